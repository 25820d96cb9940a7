// A GPU that fails in the middle of a run: an UnavailableError that names backend and fault (exit 69), never a hang.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#if defined(SACCADE_GL)
#include "gpu/gl/context.h"
#endif
#include "pipeline/error.h"
#include "pipeline/run/pipeline.h"
#include "pipeline/source/open.h"
#include "tests/support/device_trap.h"
#include "tests/support/required.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

[[noreturn]] void leave(const std::string& what, ErrorKind kind) {
  std::fprintf(stderr, "%s: %s", name(kind), what.c_str());
  std::_Exit(1);
}

[[noreturn]] void fault_in_second_frame() {
  PipelineConfig config;
  config.backend = Backend::kCuda;
  Pipeline pipeline(config);
  std::vector<std::uint8_t> picture(std::size_t{64} * 64 * 3 / 2, 100);
  FrameView frame;
  frame.layout = PixelLayout::kNv12;
  frame.width_px = frame.height_px = 64;
  frame.planes[0] = {picture.data(), 64};
  frame.planes[1] = {picture.data() + 64 * 64, 64};
  pipeline.prepare(frame);
  Emission emission = pipeline.make_emission();
  pipeline.step(frame, emission);
  try {
    test::trap_device();
    pipeline.step(frame, emission);
  } catch (const UnavailableError& error) {
    leave(error.what(), error.kind());
  }
  leave("nothing was thrown", ErrorKind::kOutput);
}

// The decoder's thread meets it first, say: to FFmpeg these are packets that can't be decoded, and they never end.
[[noreturn]] void fault_while_decoding(const std::string& clip) {
  SourceConfig config;
  config.uri = clip;
  config.loops = -1;
  config.hwdec = HwDecode::kCuda;
  config.require_hwdec = config.keep_on_device = true;
  const auto source = open_source(config);
  PipelineConfig on_device;
  on_device.backend = Backend::kCuda;
  Pipeline pipeline(on_device);
  Frame frame;
  if (source->next(frame) != ReadStatus::kOk) leave(source->fault().what, ErrorKind::kOutput);
  pipeline.prepare(frame.view());
  Emission emission = pipeline.make_emission();
  try {
    test::trap_device();
    pipeline.step(frame.view(), emission);
  } catch (const UnavailableError&) {
  }
  ReadStatus status = ReadStatus::kOk;
  while (status == ReadStatus::kOk || status == ReadStatus::kAgain) status = source->next(frame);
  if (status == ReadStatus::kFailed) leave(source->fault().what, source->fault().kind);
  leave("it ended as if it were whole", ErrorKind::kOutput);
}

class DeviceFault : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why_not = why_unavailable(Backend::kCuda); !why_not.empty()) {
      testing::skip_or_fail("cuda", why_not);
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(DeviceFault, MidStream_EndsTheRunAndNamesTheBackend) {
  EXPECT_EXIT(fault_in_second_frame(), ::testing::ExitedWithCode(1), "unavailable: backend cuda: .*launch failure");
}

TEST_F(DeviceFault, WhileDecoding_IsNoDamagedInput) {
  const char* clips = std::getenv("SACCADE_CLIPS");
  if (clips == nullptr) {
    testing::skip_or_fail("cuda", "SACCADE_CLIPS names no folder of clips for NVDEC");
    return;
  }
  const std::string clip = std::string(clips) + "/static-1080p.mp4";
  EXPECT_EXIT(fault_while_decoding(clip), ::testing::ExitedWithCode(1),
              "unavailable: .*static-1080p.mp4: frame .*launch failure");
  // The process that is to die runs all this again, up to its own death, and leaves its folders behind: it takes ours.
  constexpr const char* kRotated = "SACCADE_ROTATED_CLIP";
  std::optional<test::TempDir> folder;
  if (std::getenv(kRotated) == nullptr) {
    folder.emplace();
    const std::string rotated = folder->file("rotated.mp4");
    const std::string output = " -t 1 -c copy " + rotated;
    const std::string make = "ffmpeg -y -v error -display_rotation 90 -i " + clip + output +  // since FFmpeg 6
                             " || ffmpeg -y -v error -i " + clip + " -metadata:s:v rotate=90" + output;
    ASSERT_EQ(std::system(make.c_str()), 0);
    setenv(kRotated, rotated.c_str(), 1);
    SourceConfig config;
    config.uri = rotated;
    EXPECT_EQ(open_source(config)->info().width_px, 1080);
  }
  EXPECT_EXIT(fault_while_decoding(std::getenv(kRotated)), ::testing::ExitedWithCode(1),
              "unavailable: .*rotated.mp4: frame .*launch failure");
  unsetenv(kRotated);
}

#if defined(SACCADE_GL)
// The viewer goes on after a fault: the frame that the texture did not get must not count as seen.
TEST(GlFault, FailedUpload_DamagesEverything) {
  std::optional<gl::Context> context;
  try {
    gl::ContextConfig quiet;
    quiet.sink = [](const gl::DebugMessage&) {};
    context.emplace(gl::Context::offscreen(quiet));
  } catch (const gl::GlError& error) {
    testing::skip_or_fail("gl", error.what());
    return;
  }
  PipelineConfig config;
  config.backend = Backend::kGl;
  config.upload = UploadPath::kDirect;
  config.calibrate = false;
  Pipeline pipeline(config);
  pipeline.set_gl_context(&*context);
  std::vector<std::uint8_t> picture(std::size_t{64} * 64 * 4, 100);
  FrameView frame;
  frame.layout = PixelLayout::kRgba8;
  frame.width_px = frame.height_px = 64;
  frame.planes[0] = {picture.data(), 64 * 4};
  pipeline.prepare(frame);
  Emission emission = pipeline.make_emission();
  EXPECT_EQ(pipeline.step(frame, emission).damaged_tiles, 16);
  EXPECT_EQ(pipeline.step(frame, emission).damaged_tiles, 0);

  picture[0] = 200;
  const gl::Buffer small(16, 0);  // uploads read from it, and beyond its end
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, small.name());
  EXPECT_THROW(pipeline.step(frame, emission), UnavailableError);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  EXPECT_EQ(pipeline.step(frame, emission).damaged_tiles, 16);
}
#endif

}  // namespace
}  // namespace saccade
