#include "app/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace saccade {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
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

LogLevel least_level(spdlog::level::level_enum level) {
  if (level <= spdlog::level::debug) return LogLevel::kDebug;
  if (level == spdlog::level::info) return LogLevel::kInfo;
  return level == spdlog::level::warn ? LogLevel::kWarning : LogLevel::kError;
}

}  // namespace

Log init_log(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("saccade", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("saccade: %^%l%$: %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(logger);
  if (logger->level() > spdlog::level::err) return {};
  const auto write = [logger](LogLevel at, std::string_view line) { logger->log(spdlog_level(at), "{}", line); };
  return Log(write, least_level(logger->level()));
}

}  // namespace saccade
