// Backend gl through the suite: levels and samples by compute shaders or on the host, uploads either way, and plans of
// small rectangles, of joined ones, and of everything.
#include "tests/kernels/backend_suite_held.h"
#include "tests/kernels/backend_suite_sample.h"
#include "tests/kernels/backend_suite_update.h"
#include "tests/support/gl_fixture.h"

namespace saccade::test {
namespace {

constexpr UploadCost kDearCalls{50.0, 1e-4};
constexpr UploadCost kDearBytes{1e-3, 1.0};

SuiteBackend on_gl(const char* name, GlWork work, UploadPath path, UploadCost cost) {
  SuiteBackend backend;
  backend.name = name;
  backend.feature = "gl";
  backend.why_missing = [] {
    std::string why;
    gl::Context* context = testing::shared_context(why);
    if (context != nullptr) context->make_current();
    return why;
  };
  backend.make = [=](const PyramidLayout& layout, const DiffConfig& diff, bool) {
    std::string why;
    return std::make_unique<GlTexture>(*testing::shared_context(why), layout, GlTextureConfig{work, path, cost, diff});
  };
  backend.counts_tiles = false;
  backend.starts_over = false;
  // Shaders may fuse and reorder. f16 has an ulp of 2^-10 below 2. A position between 512 and 1024 has one of 2^-14: a
  // sample moves by as much, and by 3.8 times that where it is divided by a deviation.
  if (work == GlWork::kCompute) backend.samples = {1.0, 2.5e-3, 3.8 / 16384};
  return backend;
}

INSTANTIATE_TEST_SUITE_P(Gl, BackendSuite,
                         ::testing::Values(on_gl("ComputeDirect", GlWork::kCompute, UploadPath::kDirect, kDearBytes),
                                           on_gl("ComputePbo", GlWork::kCompute, UploadPath::kPbo, kDearCalls),
                                           on_gl("HostDirect", GlWork::kHost, UploadPath::kDirect, kDearCalls),
                                           on_gl("HostPbo", GlWork::kHost, UploadPath::kPbo, kDearBytes)),
                         instance_name);

}  // namespace
}  // namespace saccade::test
