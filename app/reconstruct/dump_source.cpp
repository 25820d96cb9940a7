#include "app/reconstruct/dump_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "app/media/rgb_frame.h"
#include "app/reconstruct/dump.h"
#include "app/reconstruct/emission_painter.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

class DumpSource final : public FrameSource {
 public:
  explicit DumpSource(const SourceConfig& config);
  ReadStatus next(Frame& out) override;
  void interrupt() override { *stop_ = true; }
  bool seek(std::int64_t pts_ns) override;
  void recycle(Frame) override {}

 private:
  const DumpReader dump_;
  const std::shared_ptr<std::atomic<bool>> stop_;
  EmissionPainter painter_;
  std::vector<std::int64_t> pts_ns_;  // of each emission, rising
  std::int64_t next_ = 0;
};

std::vector<std::int64_t> times_of(const DumpReader& dump) {
  std::vector<std::int64_t> times;
  for (std::int64_t e = 0; e < dump.emissions(); ++e) times.push_back(dump.index(e).pts_ns);
  make_rise(times);
  return times;
}

DumpSource::DumpSource(const SourceConfig& config)
    : dump_(config.uri),
      stop_(config.stop ? config.stop : std::make_shared<std::atomic<bool>>(false)),
      painter_(dump_, {dump_.facts().width_px, dump_.facts().height_px}, false),
      pts_ns_(times_of(dump_)) {
  if (pts_ns_.empty()) throw InputError(fmt::format("{}: the dump has no emissions yet", config.uri));
  const DumpFacts& facts = dump_.facts();
  const double spanned_s = static_cast<double>(pts_ns_.back() - pts_ns_.front()) * 1e-9;
  info_.uri = config.uri;
  info_.container = info_.codec = info_.decoder = "dump";
  info_.pixel_format = name(facts.format.type);
  info_.coded_width_px = info_.width_px = facts.width_px;
  info_.coded_height_px = info_.height_px = facts.height_px;
  info_.layout = PixelLayout::kRgba8;
  info_.sar = facts.sar;
  info_.frame_count = dump_.emissions();
  info_.fps = spanned_s > 0 ? static_cast<double>(pts_ns_.size() - 1) / spanned_s : 1;
  info_.duration_s = spanned_s + 1 / info_.fps;
}

bool DumpSource::seek(std::int64_t pts_ns) {
  next_ = std::lower_bound(pts_ns_.begin(), pts_ns_.end(), pts_ns) - pts_ns_.begin();
  return true;
}

ReadStatus DumpSource::next(Frame& out) {
  if (*stop_ || next_ >= dump_.emissions()) return ReadStatus::kEnd;
  const RgbImage* image = nullptr;
  try {
    image = &painter_.paint(next_);
  } catch (const Error& error) {
    fault_ = error.fault();
    return ReadStatus::kFailed;
  }
  out = rgb_frame(*image, static_cast<float>(info_.sar), pts_ns_[static_cast<std::size_t>(next_)], next_);
  ++next_;
  ++counters_.frames;
  return ReadStatus::kOk;
}

}  // namespace

std::unique_ptr<FrameSource> open_dump_source(const SourceConfig& config) {
  return std::make_unique<DumpSource>(config);
}

}  // namespace saccade
