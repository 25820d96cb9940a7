#include "pipeline/source/ffmpeg/log.h"

#include <spdlog/spdlog.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
}

namespace saccade {

struct CapturedError {
  std::thread::id owner;
  std::string first;
};

namespace {

// H.264 pictures are missing: the decoder makes some up and says so in this debug message alone.
constexpr std::string_view kLostReference = "Frame num gap";

constexpr std::size_t kMaxRemembered = 512;

std::mutex captures_mutex;
std::vector<std::shared_ptr<CapturedError>> captures;  // innermost last

// True when the message belongs to a capture of this thread and needs no showing.
bool keep_error(const std::string& message) {
  const std::lock_guard lock(captures_mutex);
  for (auto it = captures.rbegin(); it != captures.rend(); ++it) {
    if ((*it)->owner != std::this_thread::get_id()) continue;
    if ((*it)->first.empty()) (*it)->first = message;
    return true;
  }
  for (const auto& capture : captures) {
    if (capture->first.empty()) capture->first = message;
  }
  return false;
}

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

void count_complaint(void* object) {
  if (object == nullptr || *static_cast<const AVClass**>(object) != avcodec_get_class()) return;
  void* counter = static_cast<AVCodecContext*>(object)->opaque;
  if (counter != nullptr) ++static_cast<ComplaintCounter*>(counter)->errors;
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
  const bool is_loss = level == AV_LOG_DEBUG && std::string_view(format).starts_with(kLostReference);
  if (is_error || is_loss) count_complaint(object);
  if (level > AV_LOG_INFO) return;
  if (!is_error && !spdlog::should_log(spdlog::level::debug)) return;
  const std::string message = formatted(format, arguments);
  if (message.empty()) return;
  const std::string context = context_name(object);
  if (is_error && keep_error(message)) {
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

ErrorCapture::ErrorCapture() : kept_(std::make_shared<CapturedError>(CapturedError{std::this_thread::get_id(), {}})) {
  const std::lock_guard lock(captures_mutex);
  captures.push_back(kept_);
}

ErrorCapture::~ErrorCapture() {
  const std::lock_guard lock(captures_mutex);
  std::erase(captures, kept_);
}

std::string ErrorCapture::first() const {
  const std::lock_guard lock(captures_mutex);
  return kept_->first;
}

}  // namespace saccade
