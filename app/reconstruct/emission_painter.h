// Emissions of a dump as pictures, one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/reconstruct/dump.h"
#include "kernels/picture/memory.h"
#include "kernels/picture/paint.h"

namespace saccade {

// The dump outlives it. One thread.
class EmissionPainter {
 public:
  // memory: what earlier emissions showed stays until it changes. Always so of a dump with only_news.
  EmissionPainter(const DumpReader& dump, PictureSize canvas, bool memory);

  // Valid until the next call. With memory those before it are taken in first: emissions in rising order cost least.
  // Throws InputError: damaged, or memory of samples between texels.
  const RgbImage& paint(std::int64_t emission);
  const RgbImage& paint_marked(std::int64_t emission);  // with where the eye looks

  int width() const { return painter_.image().width; }
  int height() const { return painter_.image().height; }
  std::span<const std::uint8_t> native() const { return painter_.native(); }  // as Painter's

 private:
  void add(std::int64_t emission);

  const DumpReader& dump_;
  Painter painter_;
  std::optional<PictureMemory> memory_;
  std::int64_t next_ = 0;  // with memory: what was not yet taken in
  DumpIndex last_;         // with memory: of the emission before
  RgbImage marked_;
  std::vector<Patch> patches_;
  std::vector<float> samples_;
};

}  // namespace saccade
