#include "app/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace saccade {

void init_log(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("saccade", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("saccade: %^%l%$: %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace saccade
