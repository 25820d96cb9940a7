// What a Pipeline holds for one size and format of frames. For pipeline.cpp and pipeline_sample.cpp alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/device_texture.h"
#include "kernels/texture.h"
#include "pipeline/backend/kept_textures.h"
#include "pipeline/run/changed/emitted_bytes.h"
#include "pipeline/run/changed/emitted_places.h"
#include "pipeline/run/changed/patch_history.h"
#include "pipeline/run/pipeline.h"

namespace saccade {

struct Pipeline::State {
  PyramidLayout layout;
  FrameGeometry geometry_px;
  TexturePtr texture;
  std::unique_ptr<Lattice> lattice;
  std::unique_ptr<Scanpath> scanpath;
  PatchHistory history;
  SampleFormat emitted_as;                // of the last emission
  std::shared_ptr<EmittedBytes> emitted;  // null: the lattice mixes texels, or what went elsewhere is not known here
  std::optional<EmittedPlaces> device_emitted;  // of emissions that stay on the device
  bool unsettled = false;                       // emissions went out before their bytes were there
  // Places are noted where emissions go: on the host, or on the device.
  bool on_device = false;
  bool device_counts = false;  // damage and what changed, since places were first noted there
  std::vector<float> geometry;
  std::vector<PlaceRecord> places;
  // What the emission that is due needs of its frame.
  struct Due {
    std::int64_t frame = 0;
    std::int64_t pts_ns = 0;
    ColorSpec color;
    Gaze gaze;
    int damaged_tiles = 0;
  };
  std::optional<Due> due;
  bool has_frame = false;  // the texture holds one

  State(const PipelineConfig& config, const PyramidLayout& shape, const FrameGeometry& frame_geometry,
        MemorySpace frames, const gl::Context* gl)
      : layout(shape),
        geometry_px(frame_geometry),
        texture(take_texture(config, shape, frames, gl)),
        lattice(make_lattice(config.lattice, frame_geometry)),
        scanpath(make_scanpath(config.scanpath, frame_geometry)),
        history(shape, lattice->patch_count()),
        emitted_as(config.samples),
        emitted(EmittedBytes::of(*lattice, config.lattice.patch_size, config.samples)) {
    if (config.measure_device) texture->measure_device();
  }

  static TexturePtr take_texture(const PipelineConfig& config, const PyramidLayout& shape, MemorySpace frames,
                                 const gl::Context* gl) {
    const BackendConfig backend{.backend = config.backend,
                                .diff = config.diff,
                                .staged = config.staged,
                                .upload = config.upload,
                                .frames = frames,
                                .calibrate = config.calibrate,
                                .device = config.device,
                                .gl = gl,
                                .log = config.log};
    if (config.kept != nullptr) return config.kept->take(backend, shape);
    return TexturePtr(make_texture(backend, shape).release());
  }

  bool fits(const FrameView& frame) const {
    return frame.width_px == layout.width_px && frame.height_px == layout.height_px &&
           texture_format(frame.layout) == layout.format;
  }
};

}  // namespace saccade
