#include "app/work/judge/fault_class.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

Fault fault(ErrorKind kind, int error, Hint hint = Hint::kNone) { return {kind, "a.mp4: in words", hint, {}, error}; }

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
  EXPECT_TRUE(lacks_hwdec(fault(ErrorKind::kUnavailable, 0, Hint::kCpuDecoding)));
  EXPECT_FALSE(lacks_hwdec(fault(ErrorKind::kUnavailable, ENOMEM, Hint::kCpuDecoding)));
  EXPECT_FALSE(lacks_hwdec(fault(ErrorKind::kInput, 0, Hint::kCpuDecoding)));
  EXPECT_FALSE(lacks_hwdec(fault(ErrorKind::kUnavailable, 0)));
}

TEST(FfmpegLog, DeviceMemoryThatIsUsedUp_IsNamedInItsLog) {
  for (const char* full : {"cuvidCreateDecoder failed -> CUDA_ERROR_OUT_OF_MEMORY: out of memory",
                           "cuMemAlloc: Out of memory", "the decoder can't be started: Cannot allocate memory"}) {
    EXPECT_TRUE(says_no_memory(full)) << full;
  }
  EXPECT_FALSE(says_no_memory("the GPU decodes no h264 of yuv422p, 64x64"));
}

TEST(FaultClass, KindAndErrno_TellTheClass) {
  struct Case {
    Fault fault;
    const char* kind;
    bool memory;
  };
  Fault gaze = fault(ErrorKind::kInput, ENOENT);
  gaze.options = {{"fixation"}};
  Fault size = fault(ErrorKind::kInput, 0);
  size.options = {{"input-size"}};
  for (const Case& one :
       {Case{fault(ErrorKind::kMemory, 0, Hint::kSmallerFrame), "unexpected", true},
        Case{fault(ErrorKind::kInput, ENOMEM), "input", true}, Case{fault(ErrorKind::kUsage, EIO), "options", false},
        Case{fault(ErrorKind::kInput, 0, Hint::kCheckFilters), "options", false}, Case{gaze, "options", false},
        Case{size, "input", false}, Case{fault(ErrorKind::kInput, 0), "input", false},
        Case{fault(ErrorKind::kInput, EINVAL), "input", false},
        Case{fault(ErrorKind::kUnavailable, EACCES), "input", false},
        Case{fault(ErrorKind::kUnavailable, EIO), "io", false}}) {
    EXPECT_STREQ(class_of(one.fault), one.kind) << one.fault.error;
    EXPECT_EQ(wants_memory(one.fault), one.memory) << one.fault.error;
  }
}

// The field's codes of what failed, and what the judge makes of each at an input's begin.
TEST(FaultClass, CodesOfFfmpegAndTheSystem_TellOfTheInputAndItsFolder) {
  const std::optional<bool> unknown;
  struct Case {
    int code;  // FFmpeg's
    const char* kind;
    std::optional<bool> file, url;  // whether anything of it was read
  };
  for (const Case& one : {Case{AVERROR_INVALIDDATA, "input", true, true},
                          Case{AVERROR_HTTP_BAD_REQUEST, "input", true, true},
                          Case{AVERROR_HTTP_UNAUTHORIZED, kMissing, false, false},
                          Case{AVERROR_HTTP_FORBIDDEN, kMissing, false, false},
                          Case{AVERROR_HTTP_NOT_FOUND, kMissing, false, false},
                          Case{AVERROR_HTTP_OTHER_4XX, "io", unknown, unknown},
                          Case{AVERROR_HTTP_SERVER_ERROR, "io", unknown, unknown},
                          Case{AVERROR(EIO), "io", false, unknown},
                          Case{AVERROR(EREMOTEIO), "io", false, unknown},
                          Case{AVERROR(EAGAIN), "io", unknown, unknown},
                          Case{AVERROR(ECONNRESET), "io", unknown, unknown},
                          Case{AVERROR(EPIPE), "io", unknown, unknown},
                          Case{AVERROR(EMFILE), "io", unknown, unknown},
                          Case{AVERROR(ETIME), "io", unknown, unknown},
                          Case{AVERROR(ESTALE), "io", false, false},
                          Case{AVERROR(ENOTCONN), "io", false, false},
                          Case{AVERROR(ECONNREFUSED), "io", false, false},
                          Case{AVERROR(ETIMEDOUT), "io", false, false},
                          Case{AVERROR(ENETUNREACH), "io", false, false},
                          Case{AVERROR(EHOSTUNREACH), "io", false, false}}) {
    const Fault failed = fault(ErrorKind::kInput, errno_of(one.code));
    EXPECT_STREQ(class_of(failed), one.kind) << av_error_text(one.code);
    EXPECT_EQ(is_io(failed), std::string(one.kind) == "io") << av_error_text(one.code);
    EXPECT_EQ(was_read(one.kind, 0, failed.error, "/in/a.mp4"), one.file) << av_error_text(one.code);
    EXPECT_EQ(was_read(one.kind, 0, failed.error, "file:///in/a.mp4"), one.file) << av_error_text(one.code);
    EXPECT_EQ(was_read(one.kind, 0, failed.error, "http://h/a.mp4"), one.url) << av_error_text(one.code);
    EXPECT_EQ(was_read(one.kind, 7, failed.error, "/in/a.mp4"), true);
  }
  EXPECT_EQ(was_read("options", 0, 0, "/in/a.mp4"), true);
  EXPECT_EQ(was_read("unexpected", 0, 0, "/in/a.mp4"), std::nullopt);
}

TEST(FaultClass, WhatIsNotThereOrMayNotBeRead_IsMissing) {
  for (const int error : {ENOENT, EACCES, EPERM, ENOTDIR, ELOOP, ENODEV, ENXIO, ENOMEDIUM, ENOKEY, EKEYEXPIRED}) {
    EXPECT_STREQ(class_of(fault(ErrorKind::kInput, error)), kMissing) << std::strerror(error);
  }
  for (const char* uri : {"/missing/a.mp4", "/missing/*.png", "/missing/%03d.png"}) {
    SourceConfig config;
    config.uri = uri;
    try {
      static_cast<void>(open_source(config));
      FAIL() << uri;
    } catch (const Error& error) {
      EXPECT_STREQ(class_of(error.fault()), kMissing) << error.what();
    }
  }
}

}  // namespace
}  // namespace saccade
