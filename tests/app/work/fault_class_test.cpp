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

TEST(FaultClass, WhatAnotherTryMayMend_IsIo) {
  for (const char* what : {"http://h/a.mp4: Server returned 4XX Client Error, but not one of 40{0,1,3,4}",
                           "http://h/a.mp4: Server returned 429 Too Many Requests", "Resource temporarily unavailable",
                           "a.mp4: Input/output error", "http://h/a.mp4: frame 7: lost connection: the answer ended",
                           "http://h/a.mp4: lost connection while it was opened: moov atom not found",
                           "http://h/a.mp4: the answer announced no length and may have been cut off: not a video"}) {
    EXPECT_STREQ(class_of(Fault{ErrorKind::kInput, what, Hint::kNone}, "a.mp4", ""), "io") << what;
  }
  for (const char* what : {"http://h/a.mp4: Server returned 404 Not Found", "a.mp4: No such file or directory",
                           "a.mp4: Invalid data found when processing input"}) {
    EXPECT_STREQ(class_of(Fault{ErrorKind::kInput, what, Hint::kNone}, "a.mp4", ""), "input") << what;
    EXPECT_FALSE(wants_memory(Fault{ErrorKind::kInput, what, Hint::kNone})) << what;
  }
  EXPECT_TRUE(wants_memory(Fault{ErrorKind::kMemory, "a.mp4: frame 3: out of memory", Hint::kNone}));
  EXPECT_TRUE(wants_memory(Fault{ErrorKind::kInput, "a.mp4: Cannot allocate memory", Hint::kNone}));
}

}  // namespace
}  // namespace saccade
