#include "app/work/judge/fault_class.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "pipeline/source/ffmpeg/av.h"
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
  const Fault damaged{ErrorKind::kInput, "a.mp4: Invalid data found when processing input", Hint::kNone};
  EXPECT_STREQ(class_of(damaged, "a.mp4", ""), "input");
  EXPECT_FALSE(wants_memory(damaged));
  EXPECT_TRUE(wants_memory(Fault{ErrorKind::kMemory, "a.mp4: frame 3: out of memory", Hint::kNone}));
  EXPECT_TRUE(wants_memory(Fault{ErrorKind::kInput, "a.mp4: Cannot allocate memory", Hint::kNone}));
}

TEST(FaultClass, WhatIsNotThereOrMayNotBeRead_IsMissing) {
  for (const int fault : {ENOENT, EACCES, EPERM, ENOTDIR, ELOOP, ENODEV, ENXIO, ENOMEDIUM, ENOKEY, EKEYEXPIRED}) {
    const Fault missing{ErrorKind::kInput, fmt::format("/in/a.mp4: {}; check the name", std::strerror(fault)),
                        Hint::kNone};
    EXPECT_STREQ(class_of(missing, "/in/a.mp4", ""), kMissing) << missing.what;
    EXPECT_FALSE(is_io(missing.what, "/in/a.mp4")) << missing.what;
  }
  for (const int answer : {AVERROR_HTTP_UNAUTHORIZED, AVERROR_HTTP_FORBIDDEN, AVERROR_HTTP_NOT_FOUND}) {
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    av_strerror(answer, text.data(), text.size());
    const Fault missing{ErrorKind::kInput, fmt::format("http://h/a.mp4: can't be opened: {}", text.data()),
                        Hint::kNone};
    EXPECT_STREQ(class_of(missing, "http://h/a.mp4", ""), kMissing) << missing.what;
  }
  const std::string pattern = "/in/*.png: no file matches; check the folder and the name";
  EXPECT_STREQ(class_of(Fault{ErrorKind::kInput, pattern, Hint::kNone}, "/in/*.png", ""), kMissing);
}

TEST(FaultClass, WordsInANameOrOfAnOptionsFile_SayNothingOfTheInput) {
  const Fault named{ErrorKind::kInput, "/in/Permission denied.mp4: Invalid data found", Hint::kNone};
  EXPECT_STREQ(class_of(named, "/in/Permission denied.mp4", ""), "input");
  const Fault gaze{ErrorKind::kInput, "/g.csv: cannot read the scanpath: No such file or directory", Hint::kNone};
  EXPECT_STREQ(class_of(gaze, "/in/a.mp4", "/g.csv"), "options");
  const Fault device{ErrorKind::kUnavailable, "/dev/nvidia0: Permission denied", Hint::kNone};
  EXPECT_STREQ(class_of(device, "/in/a.mp4", ""), "input");
}

TEST(FaultClass, WhatWasRead_TellsOfItsFolder) {
  struct Case {
    const char* kind;
    int frames;
    const char* what;
    const char* input;
    std::optional<bool> read;
  };
  for (const Case& one : {Case{"missing", 0, "No such file or directory", "/in/a.mp4", false},
                          Case{"input", 0, "Invalid data found", "/in/a.mp4", true},
                          Case{"options", 0, "outside the frame", "/in/a.mp4", true},
                          Case{"io", 7, "Input/output error", "/in/a.mp4", true},
                          Case{"missing", 7, "Permission denied", "/in/a.mp4", true},
                          Case{"io", 0, "Input/output error", "/in/a.mp4", false},
                          Case{"io", 0, "Input/output error", "file:///in/a.mp4", false},
                          Case{"io", 0, "Input/output error", "http://h/a.mp4", std::nullopt},
                          Case{"io", 0, "Stale file handle", "/in/a.mp4", false},
                          Case{"io", 0, "Transport endpoint is not connected", "/in/a.mp4", false},
                          Case{"io", 0, "Connection refused", "http://h/a.mp4", false},
                          Case{"io", 0, "Network is unreachable", "http://h/a.mp4", false},
                          Case{"io", 0, "Connection reset by peer", "http://h/a.mp4", std::nullopt},
                          Case{"io", 0, "Server returned 5XX Server Error reply", "http://h/a.mp4", std::nullopt},
                          Case{"io", 0, "Resource temporarily unavailable", "/in/a.mp4", std::nullopt},
                          Case{"unexpected", 0, "out of memory", "/in/a.mp4", std::nullopt}}) {
    EXPECT_EQ(was_read(one.kind, one.frames, one.what, one.input), one.read) << one.kind << " " << one.what;
  }
}

}  // namespace
}  // namespace saccade
