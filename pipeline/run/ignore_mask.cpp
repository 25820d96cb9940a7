#include "pipeline/run/ignore_mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "pipeline/error.h"
#include "pipeline/secrets.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

constexpr int kBright = 128;

bool is_bright(const FrameView& view, const std::uint8_t* row, int x) {
  switch (view.layout) {
    case PixelLayout::kRgba8:
      return std::max({row[4 * x], row[4 * x + 1], row[4 * x + 2]}) >= kBright;
    case PixelLayout::kI420:
    case PixelLayout::kNv12:
      return row[x] >= kBright;
    case PixelLayout::kI420p16:
    case PixelLayout::kP016:
      break;
  }
  const int code = (row[2 * x] | row[2 * x + 1] << 8) << view.shift;  // little endian, aligned to 16 bits
  return code >= kBright << 8;
}

}  // namespace

std::shared_ptr<const IgnoreMask> read_ignore_mask(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw InputError(OfOption("ignore", masked_uri(path)), "neither a region X,Y,W,H nor a picture's file");
  }
  Frame frame;
  try {
    SourceConfig config;
    config.uri = path;
    const auto source = open_source(config);
    ReadStatus status = ReadStatus::kAgain;
    while (status == ReadStatus::kAgain) status = source->next(frame);
    if (status != ReadStatus::kOk) throw InputError(fmt::format("{}: holds no picture", path));
    const FrameView& view = frame.view();
    auto mask = std::make_shared<IgnoreMask>();
    mask->width = view.width_px;
    mask->height = view.height_px;
    mask->ignored.reserve(static_cast<std::size_t>(view.width_px) * static_cast<std::size_t>(view.height_px));
    for (int y = 0; y < view.height_px; ++y) {
      const std::uint8_t* row = view.planes[0].data + y * view.planes[0].pitch_bytes;
      for (int x = 0; x < view.width_px; ++x) mask->ignored.push_back(is_bright(view, row, x) ? 1 : 0);
    }
    return mask;
  } catch (const InputError& error) {  // its words begin with the file's name
    if (!error.option().empty()) throw;
    throw_fault(of_option(error.fault(), "ignore"));
  }
}

void read_masks(IgnoreRegions& regions) {
  while (regions.masks.size() < regions.mask_files.size()) {
    regions.masks.push_back(read_ignore_mask(regions.mask_files[regions.masks.size()]));
  }
}

}  // namespace saccade
