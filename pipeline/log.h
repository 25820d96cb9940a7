// Where the library's messages go: to the caller's function. Nothing below app/ writes to a stream of the process or to
// a logger that all share.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace saccade {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

// Called with one line without a newline, on any thread of the session, several at once. Must not throw.
using LogFunction = std::function<void(LogLevel level, std::string_view line)>;

// A copyable handle; the empty one drops everything. Messages below `least` are not even formatted.
class Log {
 public:
  Log() = default;
  explicit Log(LogFunction function, LogLevel least = LogLevel::kInfo)
      : function_(std::move(function)), least_(least) {}

  bool wants(LogLevel level) const { return function_ && level >= least_; }
  void write(LogLevel level, std::string_view line) const {
    if (wants(level)) function_(level, line);
  }
  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    if (wants(LogLevel::kDebug)) function_(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    if (wants(LogLevel::kInfo)) function_(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    if (wants(LogLevel::kWarning)) function_(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    if (wants(LogLevel::kError)) function_(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  LogFunction function_;
  LogLevel least_ = LogLevel::kInfo;
};

}  // namespace saccade
