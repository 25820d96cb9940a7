#include "app/work/fault_class.h"

#include <gtest/gtest.h>

#include "pipeline/source/open.h"

namespace saccade {
namespace {

TEST(FaultClass, SourceThatNoDeviceDecodes_LacksHwdec) {
  SourceConfig config;
  config.uri = "test://box?size=64x64&frames=2";
  config.require_hwdec = true;
  try {
    static_cast<void>(open_source(config));
    FAIL() << "a test source is painted";
  } catch (const Error& error) {
    EXPECT_TRUE(lacks_hwdec(error.fault())) << error.what();
  }
}

TEST(FaultClass, OtherFaultsOfDevices_AreOfAllVideos) {
  const auto fault = [](ErrorKind kind, const char* what, Hint hint) { return Fault{kind, what, hint}; };
  const char* undecoded = "a.mp4: no hardware decoding: the GPU decodes no h264 of yuv422p, 64x64";
  EXPECT_TRUE(lacks_hwdec(fault(ErrorKind::kUnavailable, undecoded, Hint::kCpuDecoding)));
  EXPECT_FALSE(lacks_hwdec(fault(ErrorKind::kInput, undecoded, Hint::kCpuDecoding)));
  EXPECT_FALSE(lacks_hwdec(fault(ErrorKind::kUnavailable, "an illegal memory access", Hint::kNone)));
  for (const char* full : {"cuvidCreateDecoder failed -> CUDA_ERROR_OUT_OF_MEMORY: out of memory",
                           "cuMemAlloc: Out of memory", "the decoder can't be started: Cannot allocate memory"}) {
    EXPECT_FALSE(lacks_hwdec(fault(ErrorKind::kUnavailable, full, Hint::kCpuDecoding))) << full;
  }
}

TEST(FaultClass, MemoryThatIsUsedUp_IsNoVideosFault) {
  const Fault fault{ErrorKind::kMemory, "a.mp4: frame 3: out of memory", Hint::kSmallerFrame};
  EXPECT_STREQ(class_of(fault, "a.mp4", ""), "unexpected");
}

}  // namespace
}  // namespace saccade
