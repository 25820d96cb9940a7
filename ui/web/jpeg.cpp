#include "ui/web/jpeg.h"

#include <fmt/format.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cstddef>

#include "pipeline/error.h"

namespace saccade::ui {
namespace {

// Means of 2x2 pixels; an odd edge is repeated.
void halve(const GlPicture& from, GlPicture& to) {
  to.width_px = (from.width_px + 1) / 2;
  to.height_px = (from.height_px + 1) / 2;
  const auto row_bytes = static_cast<std::size_t>(from.width_px) * 4;
  to.rgba.resize(static_cast<std::size_t>(to.width_px) * static_cast<std::size_t>(to.height_px) * 4);
  std::uint8_t* out = to.rgba.data();
  for (int y = 0; y < to.height_px; ++y) {
    const std::uint8_t* upper = from.rgba.data() + static_cast<std::size_t>(2 * y) * row_bytes;
    const std::uint8_t* lower = 2 * y + 1 < from.height_px ? upper + row_bytes : upper;
    for (int x = 0; x < to.width_px; ++x, out += 4) {
      const std::size_t left = static_cast<std::size_t>(2 * x) * 4;
      const std::size_t right = 2 * x + 1 < from.width_px ? left + 4 : left;
      for (std::size_t c = 0; c < 4; ++c) {
        const int sum = upper[left + c] + upper[right + c] + lower[left + c] + lower[right + c];
        out[c] = static_cast<std::uint8_t>((sum + 2) >> 2);
      }
    }
  }
}

}  // namespace

JpegEncoder::JpegEncoder() : handle_(tjInitCompress()) {
  if (handle_ == nullptr) throw UnavailableError(fmt::format("JPEG encoder: {}", tjGetErrorStr2(nullptr)));
}

JpegEncoder::~JpegEncoder() { tjDestroy(handle_); }

void JpegEncoder::encode(const GlPicture& picture, const JpegSettings& settings, std::vector<std::uint8_t>& bytes) {
  if (settings.half) halve(picture, smaller_);
  const GlPicture& source = settings.half ? smaller_ : picture;
  const int sampling = settings.full_chroma ? TJSAMP_444 : TJSAMP_420;
  const std::size_t before = bytes.size();
  auto size = tjBufSize(source.width_px, source.height_px, sampling);
  bytes.resize(before + size);
  unsigned char* target = bytes.data() + before;
  const int result =
      tjCompress2(handle_, source.rgba.data(), source.width_px, 0, source.height_px, TJPF_RGBX, &target, &size,
                  sampling, std::clamp(settings.quality, 1, 100), TJFLAG_BOTTOMUP | TJFLAG_NOREALLOC);
  if (result != 0) throw UnavailableError(fmt::format("JPEG encoder: {}", tjGetErrorStr2(handle_)));
  bytes.resize(before + size);
}

}  // namespace saccade::ui
