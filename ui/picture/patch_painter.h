// Paints an emission back over the frame: what a model was given.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gl/objects.h"
#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"
#include "ui/picture/picture_mapping.h"

namespace saccade::ui {

// One thread, the GL context's. Batches must hold u8 samples.
class PatchPainter {
 public:
  PatchPainter();
  void set(const PatchPlan& plan, const PatchBatch& batch);
  void draw(const PictureMapping& mapping, int window_width_px, int window_height_px) const;

 private:
  struct Quad {  // as in patches_vert.glsl
    float x_px, y_px, half_px;
    std::uint32_t index;
  };
  void upload_samples(const PatchBatch& batch);

  gl::Program program_;
  gl::VertexArray no_vertices_;
  gl::Buffer quads_;
  std::size_t quads_room_ = 0;
  std::vector<Quad> quad_list_;
  gl::Texture samples_;
  int samples_width_ = 0, samples_height_ = 0;
  int patch_size_ = 0;
  int columns_ = 1;
  std::vector<std::uint8_t> packed_;
};

}  // namespace saccade::ui
