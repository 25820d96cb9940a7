#include "pipeline/source/ffmpeg/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pipeline/secrets.h"
#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Shared by its FfmpegLog, its captures, and callbacks that are running.
struct FfmpegMessages {
  explicit FfmpegMessages(Log to, std::shared_ptr<const std::atomic<bool>> stop = nullptr)
      : log(std::move(to)), stopped(std::move(stop)) {}
  void take(std::string_view context, bool is_error, const char* format, const std::string& message);
  void note_losses(const Losses& lost, const std::string& message);
  static bool keep_on_this_thread(const std::string& message);

  const Log log;
  const std::shared_ptr<const std::atomic<bool>> stopped;  // null: never
  // All below under users().mutex
  std::int64_t complaints = 0;
  Losses losses;
  std::string last_loss;  // the message
  std::vector<ErrorCapture*> captures;
  std::unordered_map<std::string, std::int64_t> seen;
  // The reading thread's
  LinkNotes link;
};

namespace {

// H.264 pictures are missing: the decoder makes some up and says so in this debug message alone.
constexpr std::string_view kLostReference = "Frame num gap";
// A camera's buffer that FFmpeg throws away: a warning, yet all that tells why no picture comes.
constexpr std::string_view kBadBuffer = "Dequeued v4l2 buffer contains";
// What never came: said in warnings of demuxers alone.
constexpr std::string_view kMissedPackets = "RTP: missed ";
constexpr std::string_view kMissedSegments[] = {"Failed to open segment", "Failed to open fragment"};
constexpr std::string_view kExpiredSegments = "skipping ";  // "%d segments ahead, expired from playlists"
// What HTTP and RTSP go through without an error.
constexpr std::string_view kReconnects = "Will reconnect at ";
constexpr std::string_view kEndsEarly = "Stream ends prematurely";
constexpr std::string_view kBadChunk = "Invalid chunk size";
constexpr std::string_view kLastChunk = "Last chunk received";
constexpr std::string_view kHttpStatus = "HTTP error ";
constexpr std::string_view kNoConnection = "Connection to %s failed";
constexpr std::string_view kNoHost = "Failed to resolve hostname";
constexpr std::string_view kEndsInside = "File ended prematurely";  // Matroska's
constexpr std::string_view kRtspByte = "ret=%d c=%02x";             // of a message between packets; '$' begins a packet
constexpr std::string_view kRtspRead = "tcp_read_packet";           // before each packet
constexpr std::string_view kRtspPacket = "id=%d len=%d";            // its header
constexpr std::string_view kStalePacket = "RTP: dropping old packet";
constexpr std::size_t kMaxRemembered = 512;
constexpr int kMostParents = 4;

struct Users {
  std::mutex mutex;
  int count = 0;  // FfmpegLogs and ErrorCaptures, and the program that takes the rest
  std::vector<std::shared_ptr<FfmpegMessages>> sources;
  std::shared_ptr<FfmpegMessages> others;  // null: FFmpeg's default callback
};

// Never destroyed: FFmpeg's threads may log while the process ends.
Users& users() {
  static Users* const all = new Users;
  return *all;
}

thread_local const std::shared_ptr<FfmpegMessages>* scope = nullptr;
thread_local ErrorCapture* innermost = nullptr;

// An object that logs begins with its class. This one asks whether messages still arrive here.
struct Probe {
  const AVClass* type;
};
thread_local bool probe_arrived = false;

Probe& probe() {
  static const AVClass type = [] {
    AVClass made = {};
    made.class_name = "saccade";
    made.item_name = av_default_item_name;
    made.version = LIBAVUTIL_VERSION_INT;
    return made;
  }();
  static Probe object = {&type};
  return object;
}

bool is_installed() {
  probe_arrived = false;
  av_log(&probe(), AV_LOG_TRACE, "%s", "");
  return probe_arrived;
}

const AVClass* class_of(const void* object) {
  return object != nullptr ? *static_cast<const AVClass* const*>(object) : nullptr;
}

// The decoder that logs, or that the object works for; null: none.
const AVCodecContext* decoder_of(const void* object) {
  for (int up = 0; up < kMostParents; ++up) {
    const AVClass* const type = class_of(object);
    if (type == nullptr) return nullptr;
    if (type == avcodec_get_class()) return static_cast<const AVCodecContext*>(object);
    if (type->parent_log_context_offset == 0) return nullptr;
    std::memcpy(&object, static_cast<const char*>(object) + type->parent_log_context_offset, sizeof object);
  }
  return nullptr;
}

// Null: no decoder, or a stranger's, whose `opaque` is only compared. Counts complaints: what decoders say themselves.
std::shared_ptr<FfmpegMessages> source_of_decoder(const void* object, bool complains) {
  const AVCodecContext* const decoder = decoder_of(object);
  if (decoder == nullptr || decoder->opaque == nullptr) return nullptr;
  const std::lock_guard lock(users().mutex);
  const auto& all = users().sources;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& source) { return source.get() == decoder->opaque; });
  if (found == all.end()) return nullptr;
  (*found)->complaints += complains && decoder == object ? 1 : 0;
  return *found;
}

std::shared_ptr<FfmpegMessages> source_of_others() {
  const std::lock_guard lock(users().mutex);
  return users().others;
}

// H.261 has no key frames; FFmpeg complains of each stream's first picture.
bool is_false_alarm(const void* object, std::string_view format) {
  const AVCodecContext* const decoder = decoder_of(object);
  return decoder != nullptr && decoder->codec_id == AV_CODEC_ID_H261 &&
         format.starts_with("warning: first frame is no keyframe");
}

// FFmpeg's HTTP calls the end of an answer that told no length premature.
bool is_end_of_answer(std::string_view message) {
  return message.starts_with("Stream ends prematurely") && message.ends_with("should be 18446744073709551615");
}

bool worth_showing(std::int64_t count) {
  while (count >= 10 && count % 10 == 0) count /= 10;
  return count == 1;
}

std::string context_name(void* object) {
  const AVClass* const type = class_of(object);
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

// The number that follows `words`; 1 where none does.
std::int64_t count_after(const std::string& message, std::string_view words) {
  const std::size_t at = message.find(words);
  const long long count = at == std::string::npos ? 0 : std::strtoll(message.c_str() + at + words.size(), nullptr, 10);
  return std::max<std::int64_t>(count, 1);
}

// 0 of both for a message about anything else.
Losses losses_in(int level, std::string_view format, const std::string& message) {
  Losses losses;
  if (level != AV_LOG_WARNING) return losses;
  if (format.starts_with(kMissedPackets)) losses.packets = count_after(message, kMissedPackets);
  if (format.find("segments ahead, expired") != std::string_view::npos) {
    losses.segments = count_after(message, kExpiredSegments);
  }
  for (const std::string_view words : kMissedSegments) losses.segments += format.starts_with(words) ? 1 : 0;
  return losses;
}

// A byte outside of RTSP's packets. An empty line ends a message, and '$' at the begin of a line whatever came before.
void note_rtsp_byte(LinkNotes& link, int byte) {
  if (byte == '\r') return;
  link.in_packet = link.line_bytes == 0 && byte == '$';
  const bool ends = link.line_bytes == 0 && (byte == '\n' || byte == '$');
  link.stray_bytes = ends ? 0 : link.stray_bytes + 1;
  link.line_bytes = byte == '\n' || ends ? 0 : link.line_bytes + 1;
}

void note_link(LinkNotes& link, int level, const char* format, va_list arguments) {
  const auto is = [format](std::string_view words) { return std::strncmp(format, words.data(), words.size()) == 0; };
  va_list copy;
  va_copy(copy, arguments);
  if (level == AV_LOG_TRACE) {
    if (is(kRtspRead)) link.in_packet = false;
    if (is(kRtspPacket)) link.in_packet = va_arg(copy, int) % 2 == 0;  // RTCP has odd channels
    if (is(kRtspByte)) {
      const int read = va_arg(copy, int);
      if (read == 1) note_rtsp_byte(link, va_arg(copy, int));
      if (read < 0 && read != AVERROR_EOF && read != AVERROR_EXIT) link.read_error = read;
    }
  } else if (level == AV_LOG_DEBUG) {
    link.answers_ended += is(kLastChunk) ? 1 : 0;
  } else if (level == AV_LOG_WARNING && is(kStalePacket)) {
    ++link.stale_packets;
  } else if (level == AV_LOG_WARNING && is(kHttpStatus)) {
    const int status = va_arg(copy, int);
    link.breaks += status == 429 || status >= 500 ? 1 : 0;
  } else if (level == AV_LOG_ERROR && is(kEndsEarly)) {
    link.breaks += is_end_of_answer(formatted(format, copy)) ? 0 : 1;
  } else if (level == AV_LOG_ERROR && is(kBadChunk)) {
    ++link.breaks;
  } else if (level == AV_LOG_ERROR && is(kEndsInside)) {
    link.ends_inside = true;
  } else if (level <= AV_LOG_WARNING && (is(kReconnects) || is(kNoConnection) || is(kNoHost))) {
    ++link.breaks;
  }
  va_end(copy);
}

void on_message(void* object, int level, const char* format, va_list arguments) {
  if (object == &probe()) {
    probe_arrived = true;
    return;
  }
  if (scope != nullptr) note_link((*scope)->link, level, format, arguments);
  bool is_error = level <= AV_LOG_ERROR && !is_false_alarm(object, format);
  const bool is_loss = level == AV_LOG_DEBUG && std::string_view(format).starts_with(kLostReference);
  if (!is_loss && level > std::max(AV_LOG_INFO, av_log_get_level())) return;
  std::shared_ptr<FfmpegMessages> source = source_of_decoder(object, is_error || is_loss);
  if (!source && scope != nullptr) source = *scope;
  const bool is_strangers = !source && innermost == nullptr;
  if (!source) source = source_of_others();
  if (!source && is_strangers) {
    av_log_default_callback(object, level, format, arguments);
    return;
  }
  is_error = is_error || (level == AV_LOG_WARNING && std::string_view(format).starts_with(kBadBuffer));
  if (source && level == AV_LOG_WARNING) {
    va_list copy;
    va_copy(copy, arguments);
    const std::string message = formatted(format, copy);
    const Losses losses = losses_in(level, format, message);
    va_end(copy);
    if (losses.packets + losses.segments > 0) {
      source->note_losses(losses, message);
      is_error = true;  // to be shown
    }
  }
  if (level > AV_LOG_INFO || !(is_error || (source && source->log.wants(LogLevel::kDebug)))) return;
  const std::string message = without_secrets(formatted(format, arguments));
  if (message.empty() || is_end_of_answer(message)) return;
  if (source) {
    source->take(context_name(object), is_error, format, message);
  } else {
    FfmpegMessages::keep_on_this_thread(message);
  }
}

void add_user() {
  if (users().count++ == 0) av_log_set_callback(on_message);
}

void remove_user() {
  if (--users().count == 0 && is_installed()) av_log_set_callback(av_log_default_callback);
}

}  // namespace

// HLS asks for its next segment ahead, and more than once: each has a number in its message.
void FfmpegMessages::note_losses(const Losses& lost, const std::string& message) {
  const std::lock_guard lock(users().mutex);
  const bool known = std::exchange(last_loss, message) == message && message.starts_with(kMissedSegments[0]);
  if (known) return;
  losses.packets += lost.packets;
  losses.segments += lost.segments;
}

bool FfmpegMessages::keep_on_this_thread(const std::string& message) {
  if (innermost == nullptr) return false;
  const std::lock_guard lock(users().mutex);
  if (innermost->first_.empty()) innermost->first_ = message;
  return true;
}

void FfmpegMessages::take(std::string_view context, bool is_error, const char* format, const std::string& message) {
  if (stopped && *stopped) is_error = false;
  if (is_error && keep_on_this_thread(message)) {
    log.debug("{}: {}", context, message);
    return;
  }
  std::int64_t count = 0;  // how often it came, this time among them
  {
    const std::lock_guard lock(users().mutex);
    for (ErrorCapture* const capture : captures) {
      if (is_error && capture->first_.empty()) capture->first_ = message;
    }
    if (seen.size() >= kMaxRemembered) seen.clear();
    count = ++seen[fmt::format("{}{}", context, format)];
  }
  if (!worth_showing(count)) return;
  const LogLevel level = is_error ? LogLevel::kWarning : LogLevel::kDebug;
  if (!log.wants(level)) return;
  const std::string more = count > 1 ? fmt::format(" (and {} more like it)", count - 1) : "";
  log.write(level, fmt::format("{}: {}{}", context, message, more));
}

FfmpegLog::FfmpegLog(Log log, std::shared_ptr<const std::atomic<bool>> stopped)
    : messages_(std::make_shared<FfmpegMessages>(std::move(log), std::move(stopped))) {
  const std::lock_guard lock(users().mutex);
  users().sources.push_back(messages_);
  add_user();
}

FfmpegLog::~FfmpegLog() {
  const std::lock_guard lock(users().mutex);
  std::erase(users().sources, messages_);
  remove_user();
}

void FfmpegLog::own(AVCodecContext& context) const { context.opaque = messages_.get(); }

std::int64_t FfmpegLog::complaints() const {
  const std::lock_guard lock(users().mutex);
  return messages_->complaints;
}

Losses FfmpegLog::losses() const {
  const std::lock_guard lock(users().mutex);
  return messages_->losses;
}

LinkNotes& FfmpegLog::link() const { return messages_->link; }

FfmpegLog::Scope::Scope(const FfmpegLog& log) : outer_(std::exchange(scope, &log.messages_)) {}

FfmpegLog::Scope::~Scope() { scope = outer_; }

ErrorCapture::ErrorCapture() : source_(scope != nullptr ? *scope : nullptr), outer_(std::exchange(innermost, this)) {
  const std::lock_guard lock(users().mutex);
  if (source_) source_->captures.push_back(this);
  add_user();
}

ErrorCapture::~ErrorCapture() {
  innermost = outer_;
  const std::lock_guard lock(users().mutex);
  if (source_) std::erase(source_->captures, this);
  remove_user();
}

std::string ErrorCapture::first() const {
  const std::lock_guard lock(users().mutex);
  return first_;
}

bool says_too_many_pixels(const std::string& logged) {
  return logged.find("exceeds specified max pixel count") != std::string::npos;
}

bool says_no_memory(const std::string& logged) {
  for (const char* words : {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory", "Out of memory", "Cannot allocate memory"}) {
    if (logged.find(words) != std::string::npos) return true;
  }
  return false;
}

std::string ErrorCapture::explain(int code) const {
  const std::string said = first();
  return said.empty() ? av_error_text(code) : fmt::format("{} ({})", av_error_text(code), said);
}

void log_other_messages(const Log& log) {
  const std::lock_guard lock(users().mutex);
  if (!users().others) add_user();
  users().others = std::make_shared<FfmpegMessages>(log);
}

}  // namespace saccade
