#include "pipeline/decoder_log.h"

#include <spdlog/spdlog.h>

#include <cstdarg>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

extern "C" {
#include <libavutil/log.h>
}

namespace saccade {
namespace {

thread_local ErrorCapture* current_capture = nullptr;

constexpr std::size_t kMaxRemembered = 512;

// How often a message came, counting this time; only that of a power of ten is worth showing.
std::int64_t count_repeat(const std::string& key) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::int64_t> seen;
  const std::lock_guard lock(mutex);
  if (seen.size() >= kMaxRemembered) seen.clear();
  return ++seen[key];
}

bool worth_showing(std::int64_t count) {
  while (count >= 10 && count % 10 == 0) count /= 10;
  return count == 1;
}

std::string context_name(void* object) {
  const AVClass* type = object != nullptr ? *static_cast<const AVClass**>(object) : nullptr;
  if (type == nullptr) return "ffmpeg";
  return type->item_name != nullptr ? type->item_name(object) : type->class_name;
}

std::string formatted(const char* format, va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::string message(text);
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  return message;
}

void on_message(void* object, int level, const char* format, va_list arguments) {
  const bool is_error = level <= AV_LOG_ERROR;
  if (level > AV_LOG_INFO) return;
  if (!is_error && !spdlog::should_log(spdlog::level::debug)) return;
  const std::string message = formatted(format, arguments);
  if (message.empty()) return;
  const std::string context = context_name(object);
  if (is_error && current_capture != nullptr) {
    current_capture->keep(message);
    spdlog::debug("{}: {}", context, message);
    return;
  }
  const std::int64_t count = count_repeat(context + format);
  if (!worth_showing(count)) return;
  const auto show = is_error ? spdlog::level::warn : spdlog::level::debug;
  if (count == 1) {
    spdlog::log(show, "{}: {}", context, message);
  } else {
    spdlog::log(show, "{}: {} (and {} more like it)", context, message, count - 1);
  }
}

}  // namespace

void route_ffmpeg_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(on_message); });
}

ErrorCapture::ErrorCapture() : outer_(current_capture) { current_capture = this; }
ErrorCapture::~ErrorCapture() { current_capture = outer_; }

void ErrorCapture::keep(std::string message) {
  if (first_.empty()) first_ = std::move(message);
}

}  // namespace saccade
