// Backend cuda through the suite: in its own storage and in GL's textures, with frames on the device (rows aligned,
// in words, packed, bottom up), page-locked and pageable.
#include <memory>

#include "kernels/cuda/texture.h"
#include "tests/kernels/backend_suite_held.h"
#include "tests/kernels/backend_suite_sample.h"
#include "tests/kernels/backend_suite_update.h"
#include "tests/kernels/cuda/cuda_fixture.h"
#if defined(SACCADE_GL)
#include "gpu/gl/context.h"
#include "kernels/interop/texture.h"
#endif

namespace saccade::test {
namespace {

constexpr SampleBounds kExact{0, 0, 1e-5};  // f32: the compiler may pick another exact-enough exp2 of the lod

enum class Frames { kDevice, kPinned, kPageable };

SuiteBackend common(const char* name, Frames frames) {
  SuiteBackend backend;
  backend.name = name;
  backend.feature = "cuda";
  backend.why_missing = why_no_cuda_device;
  backend.samples = kExact;
  if (frames == Frames::kPageable) return backend;
  const auto where = frames == Frames::kDevice ? PlacedFrame::Where::kDevice : PlacedFrame::Where::kPinned;
  backend.place = [where](const FrameView& frame, unsigned seed, std::any& memory) {
    auto placed = std::make_shared<const PlacedFrame>(frame, where, static_cast<Rows>(seed / 2 % 4));
    const FrameView view = placed->view();
    memory = std::move(placed);
    return view;
  };
  return backend;
}

SuiteBackend in_own_storage(const char* name, Frames frames) {
  SuiteBackend backend = common(name, frames);
  backend.make = [](const PyramidLayout& layout, const DiffConfig& diff, bool staged) {
    return std::make_unique<CudaTexture>(layout, CudaTextureConfig{diff, staged, 0});
  };
  return backend;
}

INSTANTIATE_TEST_SUITE_P(Cuda, BackendSuite,
                         ::testing::Values(in_own_storage("Device", Frames::kDevice),
                                           in_own_storage("Pinned", Frames::kPinned),
                                           in_own_storage("Pageable", Frames::kPageable)),
                         instance_name);

#if defined(SACCADE_GL)
gl::Context& context_on_device_0() {
  static const std::unique_ptr<gl::Context> context = [] {
    gl::ContextConfig config;
    config.cuda_device = 0;
    return std::make_unique<gl::Context>(gl::Context::offscreen(std::move(config)));
  }();
  context->make_current();
  return *context;
}

SuiteBackend in_gl(const char* name, Frames frames, UploadPath path, GlSharing sharing) {
  SuiteBackend backend = common(name, frames);
  backend.make = [path, sharing](const PyramidLayout& layout, const DiffConfig& diff, bool staged) {
    return std::make_unique<CudaGlTexture>(context_on_device_0(), layout,
                                           CudaGlTextureConfig{{diff, staged, 0}, path, sharing, false});
  };
  backend.counts_tiles = path != UploadPath::kPbo;
  backend.starts_over = false;
  return backend;
}

INSTANTIATE_TEST_SUITE_P(CudaInGl, BackendSuite,
                         ::testing::Values(in_gl("Device", Frames::kDevice, UploadPath::kDirect, GlSharing::kAuto),
                                           in_gl("Pageable", Frames::kPageable, UploadPath::kDirect, GlSharing::kAuto),
                                           in_gl("Copied", Frames::kPageable, UploadPath::kDirect, GlSharing::kCopied),
                                           in_gl("PboDevice", Frames::kDevice, UploadPath::kPbo, GlSharing::kAuto),
                                           in_gl("PboPageable", Frames::kPageable, UploadPath::kPbo, GlSharing::kAuto)),
                         instance_name);
#endif

}  // namespace
}  // namespace saccade::test
