#include "app/media/av.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "app/files/whole_file.h"
#include "pipeline/error.h"

namespace saccade::preview {
namespace {

constexpr int kFirstOfFfmpeg = 4096;  // codes from here on are no errno

}  // namespace

void check(int code, const std::string& output, const char* what) {
  if (code >= 0) return;
  std::array<char, AV_ERROR_MAX_STRING_SIZE> reason{};
  av_strerror(code, reason.data(), reason.size());
  const bool by_system = std::string_view(what) == kWriting && AVUNERROR(code) < kFirstOfFfmpeg;
  if (by_system) fail_to_write(output, AVUNERROR(code), "choose another -o");
  throw Error(ErrorKind::kOutput, fmt::format("{}: {}: {}", output, what, reason.data()));
}

AvPtr<AVFrame> make_frame(int width, int height, AVPixelFormat format) {
  AvPtr<AVFrame> frame(av_frame_alloc());
  if (!frame) throw std::bad_alloc();
  frame->width = width;
  frame->height = height;
  frame->format = format;
  if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
  return frame;
}

std::string partial_name(const std::string& output) { return output + ".partial"; }

void publish(const std::string& partial, const std::string& output) {
  std::error_code error;
  std::filesystem::rename(partial, output, error);
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Error(ErrorKind::kOutput, fmt::format("{}: {}; choose another -o", output, error.message()));
}

}  // namespace saccade::preview
