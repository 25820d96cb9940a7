// What a Pipeline holds for one size and format of frames. For the files pipeline*.cpp alone.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "gpu/device_error.h"
#include "kernels/texture.h"
#include "pipeline/backend/kept_textures.h"
#include "pipeline/error.h"
#include "pipeline/gaze/allocate/allocator.h"
#include "pipeline/run/emission_sink.h"
#include "pipeline/run/pipeline.h"
#include "pipeline/views/chooser.h"

namespace saccade {

struct Pipeline::State {
  const PipelineConfig& settings;
  PyramidLayout layout;
  FrameGeometry geometry_px;
  TexturePtr texture;
  TextureCapabilities can;  // of the texture
  std::unique_ptr<Lattice> lattice;
  std::unique_ptr<Allocator> allocator;  // of lattice adaptive; else null
  std::unique_ptr<Scanpath> scanpath;
  std::unique_ptr<ViewChooser> views;  // null: none were asked for
  std::optional<EmissionSink> sink;
  bool device_counts = false;  // damage and what changed, since emissions first stayed on the device
  // What the emission that is due needs of its frame.
  struct Due {
    std::int64_t frame = 0;
    std::int64_t pts_ns = 0;
    ColorSpec color;
    Gaze gaze;
    int damaged_tiles = 0;
    ScreenCues cues;
  };
  std::optional<Due> due;
  bool has_frame = false;             // the texture holds one
  ColorSpec color;                    // of that frame
  std::optional<std::int64_t> shown;  // the sequence of the frame that the texture was compared with, by this rule
  bool unchanged = false;             // the last step knew it, so the texture was not asked
  Damage nothing{layout.tiles};

  // config: the pipeline's own.
  State(const PipelineConfig& config, const PyramidLayout& shape, const FrameGeometry& frame_geometry,
        MemorySpace frames, const gl::Context* gl)
      : settings(config),
        layout(shape),
        geometry_px(frame_geometry),
        texture(take_texture(config, shape, frames, gl)),
        can(texture->capabilities()),
        lattice(make_lattice(config.lattice, frame_geometry)),
        allocator(make_allocator(config)),
        scanpath(make_scanpath(config.scanpath, frame_geometry)) {
    make_sink(false);
    if (config.measure_device && can.timed != nullptr) can.timed->measure_device();
  }

  std::unique_ptr<Allocator> make_allocator(const PipelineConfig& config) const {
    const auto* const shape = std::get_if<AdaptiveShape>(&config.lattice.shape);
    if (shape == nullptr) return nullptr;
    const ErrorMeasure measure = measure_of(*shape);
    auto squares = config.measure_held && measure != kForPsnr ? texture->make_held_picture(kForPsnr) : nullptr;
    return std::make_unique<Allocator>(texture->make_held_picture(measure), std::move(squares), config.lattice,
                                       config.scanpath.ignore, geometry_px);
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

  // Forgets what was emitted where.
  void make_sink(bool on_device) { sink.emplace(*texture, on_device ? can.device : nullptr, *lattice, settings); }

  void place_emissions(bool on_device) {
    if (on_device == sink->on_device()) return;
    device_counts |= on_device;
    make_sink(on_device);
  }

  bool fits(const FrameView& frame) const {
    return frame.width_px == layout.width_px && frame.height_px == layout.height_px &&
           texture_format(frame.layout) == layout.format;
  }
};

// A GPU that fails takes no more frames: not this one's fault, and not the program's.
template <typename F>
auto Pipeline::guard_device(F&& work) {
  try {
    return work();
  } catch (const DeviceError& error) {
    damage_everything();  // what the texture holds is not known
    throw_fault(fault_of(error), fmt::format("backend {}", name(config_.backend)));
  }
}

}  // namespace saccade
