// Draws the frames of test:// sources.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/source/frame/frame_pool.h"
#include "pipeline/source/test/test_source.h"

namespace saccade {

struct BoxRect {
  int x = 0, y = 0, size = 0;
  bool contains(int px, int py) const { return px >= x && px < x + size && py >= y && py < y + size; }
};

// Where the box lies in frame `index`; all numbers even, so that its chroma is exact too.
BoxRect box_at(const TestSpec& spec, std::int64_t index);

// Whether frame `index` is the same picture as the one before.
bool repeats_previous(const TestSpec& spec, std::int64_t index);

class TestPainter {
 public:
  explicit TestPainter(const TestSpec& spec);
  void paint(std::int64_t index, const I420Pool::Planes& planes);

 private:
  void paint_texture(std::int64_t index, const I420Pool::Planes& planes);
  void paint_noise(std::int64_t index, const I420Pool::Plane& luma);
  void paint_box(std::int64_t index, const I420Pool::Planes& planes);

  TestSpec spec_;
  int texture_width_ = 0;
  std::vector<std::uint8_t> texture_;  // texture_width_ x height, codes 48..143
};

}  // namespace saccade
