#include "app/reconstruct/emission_painter.h"

#include <fmt/format.h>

#include "pipeline/error.h"

namespace saccade {

EmissionPainter::EmissionPainter(const DumpReader& dump, PictureSize canvas, bool memory)
    : dump_(dump), painter_(dump.facts().width_px, dump.facts().height_px, canvas, dump.facts().patch_size) {
  if (memory || dump.facts().only_news) {
    memory_.emplace(dump.facts().width_px, dump.facts().height_px, dump.facts().patch_size);
  }
}

// A gap, or a time that goes back: another picture.
void EmissionPainter::add(std::int64_t emission) {
  const DumpIndex index = dump_.index(emission);
  if (emission > 0 && (index.pts_ns < last_.pts_ns || index.gaps != last_.gaps)) memory_->forget();
  last_ = index;
  dump_.patches(emission, patches_);
  dump_.samples(emission, samples_);
  const std::span<const std::int32_t> owner = memory_->add(patches_, samples_);
  if (owner.empty()) {
    throw InputError(
        fmt::format("{}: memory: the samples lie between texels, so that nothing tells what stayed the "
                    "same; dump with lattice nested, or paint without memory",
                    dump_.facts().directory));
  }
  painter_.paint(patches_, samples_, owner);
}

const RgbImage& EmissionPainter::paint(std::int64_t emission) {
  if (!memory_) {
    dump_.patches(emission, patches_);
    dump_.samples(emission, samples_);
    return painter_.paint(patches_, samples_);
  }
  if (emission + 1 < next_) {
    memory_->forget();
    next_ = 0;
  }
  while (next_ <= emission) add(next_++);
  return painter_.image();
}

const RgbImage& EmissionPainter::paint_marked(std::int64_t emission) {
  marked_ = paint(emission);
  const DumpIndex index = dump_.index(emission);
  mark_fixation(marked_, index.fix_u, index.fix_v, index.in_flight);
  return marked_;
}

}  // namespace saccade
