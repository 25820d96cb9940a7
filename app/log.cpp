#include "app/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string_view>

#include "pipeline/secrets.h"

namespace saccade {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void init_log(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("saccade", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("saccade: %^%l%$: %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

Log app_log() {
  if (spdlog::get_level() == spdlog::level::off) return {};
  LogLevel least = LogLevel::kError;
  for (const LogLevel level : {LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug}) {
    if (spdlog::should_log(to_spdlog(level))) least = level;
  }
  return Log([](LogLevel level, std::string_view line) { spdlog::log(to_spdlog(level), "{}", without_secrets(line)); },
             least);
}

}  // namespace saccade
