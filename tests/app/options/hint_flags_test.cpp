// Hints as the command line tells them: by options that there are.
#include "app/options/hint_flags.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "app/options/origins.h"
#include "app/options/table.h"
#include "gpu/device_error.h"
#include "pipeline/options/option_error.h"

namespace saccade {
namespace {

constexpr int kHints = static_cast<int>(Hint::kCudaBackend) + 1;

TEST(HintFlags, EveryHint_NamesOptionsThatThereAre) {
  EXPECT_EQ(flags(Hint::kNone), "");
  const std::regex option("--([a-z][a-z0-9-]*)");
  for (int n = 1; n < kHints; ++n) {
    const std::string text = flags(static_cast<Hint>(n));
    int named = 0;
    for (std::sregex_iterator found(text.begin(), text.end(), option), end; found != end; ++found, ++named) {
      EXPECT_NE(find_option((*found)[1].str()), nullptr) << text;
    }
    EXPECT_GT(named, 0) << "hint " << n << ": " << text;
  }
}

TEST(HintFlags, EveryHint_HasWordsOfTheLibrary) {
  EXPECT_STREQ(words(Hint::kNone), "");
  for (int n = 1; n < kHints; ++n) {
    const std::string text = words(static_cast<Hint>(n));
    EXPECT_GT(text.size(), 8U) << "hint " << n;
    EXPECT_EQ(text.find("--"), std::string::npos) << text;
  }
}

TEST(ErrorText, ASetting_IsSpelledAsItIsSet) {
  EXPECT_EQ(error_text(OptionError::naming("upload", "needs a GPU; add {+upload} direct", "pbo")),
            "--set upload=pbo: needs a GPU; add --set upload=direct");
  EXPECT_EQ(error_text(UsageError("raw.yuv: no size", Hint::kDirectUpload)),
            "raw.yuv: no size; --set upload=direct needs no OpenGL");
  EXPECT_EQ(flags(Hint::kCpuDecoding), "leave out --hwdec and --set require-hwdec to decode on the CPU");
}

TEST(ErrorText, AHint_FollowsTheFault) {
  EXPECT_EQ(error_text(InputError("a.mp4: too large", Hint::kRaisePixelLimit)),
            "a.mp4: too large; allow more with --set max-pixels, or scale the video down first");
  EXPECT_EQ(error_text(InputError("a.mp4: is empty")), "a.mp4: is empty");
  EXPECT_EQ(one_line({ErrorKind::kInput, "a.mp4: too large", Hint::kRaisePixelLimit}),
            "a.mp4: too large; allow more with max-pixels, or scale the video down first");
}

TEST(ErrorText, AFaultOfASetting_NamesItsOption) {
  EXPECT_EQ(error_text(UsageError(OfOption("patch-size", "15"), "is odd")), "--patch-size 15: is odd");
  EXPECT_EQ(error_text(UsageError(OfOption("strides"), "3 at place 1")), "--strides: 3 at place 1");
  EXPECT_EQ(error_text(UnavailableError(OfOption("device", "7"), "is not there")), "--device 7: is not there");
  EXPECT_EQ(error_text(OptionError("e0", "is text")), "--e0: is text");
  EXPECT_EQ(error_text(UsageError("view: takes one INPUT")), "view: takes one INPUT");
  EXPECT_EQ(error_text(UsageError("--e0: is text")), "--e0: is text");
}

TEST(ErrorText, AnOptionFromAFile_IsNamedByItsPlaceThere) {
  remember_origins(
      {{"levels", {.text = "0", .origin = "a.toml:3: levels"}}, {"e0", {.text = "0", .typed = true, .origin = {}}}});
  const Fault fault = UsageError(OfOption("levels", "0"), "at least 1 is needed", Hint::kMoreLevels).fault();
  EXPECT_EQ(error_text(in_context(fault, "b.mp4")), "b.mp4: a.toml:3: levels 0: at least 1 is needed; raise --levels");
  EXPECT_EQ(error_text(UsageError(OfOption("e0", "0"), "is odd")), "--e0 0: is odd");
  EXPECT_EQ(error_text(UsageError(OfOption("output", "x"), "is a file")), "-o x: is a file");
  remember_origins({});
  EXPECT_EQ(error_text(in_context(fault, "b.mp4")), "b.mp4: --levels 0: at least 1 is needed; raise --levels");
}

TEST(ErrorText, AnotherOption_IsNamedAsItWasGiven) {
  const Fault conflict =
      OptionError::naming("hwdec", "conflicts with {output}; leave one out, or add {+levels} 3").fault();
  EXPECT_EQ(error_text(conflict), "--hwdec: conflicts with -o; leave one out, or add --levels 3");
  remember_origins({{"output", {.text = "x", .origin = "a.toml:2: output"}},
                    {"levels", {.text = "1", .origin = "a.toml:3: levels"}}});
  EXPECT_EQ(error_text(conflict), "--hwdec: conflicts with a.toml:2: output; leave one out, or add --levels 3");
  EXPECT_EQ(error_text(in_context(conflict, "b\n.mp4")),
            "b\\n.mp4: --hwdec: conflicts with a.toml:2: output; leave one out, or add --levels 3");
  remember_places({{"hwdec", "store/plan.json: hwdec"}});
  EXPECT_EQ(error_text(conflict), "store/plan.json: hwdec: conflicts with -o; leave one out, or add --levels 3");
  remember_places({});
}

TEST(ErrorText, AnOptionOfAnInput_FollowsItsName) {
  const Fault fault = InputError(OfOption("stream", "7").in("a\n.mp4"), "is not there").fault();
  EXPECT_EQ(fault.what, "a\\n.mp4: stream 7: is not there");
  EXPECT_EQ(error_text(fault), "a\\n.mp4: --stream 7: is not there");
  const Fault of_file = of_option(InputError("gaze.csv: line 3: no number").fault(), "fixation", "file:");
  EXPECT_EQ(error_text(in_context(of_file, "a.mp4")), "a.mp4: --fixation file:gaze.csv: line 3: no number");
}

TEST(ErrorText, AFileThatIsNamedLikeAnOption_StaysWithoutDashes) {
  for (const char* text : {"levels 1.mp4: can't be looped", "levels: can't be looped", "patches 15: is empty"}) {
    for (const ErrorKind kind : {ErrorKind::kUsage, ErrorKind::kInput, ErrorKind::kUnavailable}) {
      EXPECT_EQ(error_text(Error(kind, text)), text);
    }
  }
}

TEST(Fault, ThrownAndCaught_LosesNothing) {
  for (const ErrorKind kind :
       {ErrorKind::kUsage, ErrorKind::kInput, ErrorKind::kUnavailable, ErrorKind::kInterrupted, ErrorKind::kOutput}) {
    try {
      throw_fault({kind, "is broken", Hint::kNoLoop}, "a.mp4");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_STREQ(error.what(), "a.mp4: is broken");
      EXPECT_EQ(error.hint(), Hint::kNoLoop);
      EXPECT_EQ(dynamic_cast<const UsageError*>(&error) != nullptr, kind == ErrorKind::kUsage);
      EXPECT_EQ(dynamic_cast<const InputError*>(&error) != nullptr, kind == ErrorKind::kInput);
      EXPECT_EQ(dynamic_cast<const UnavailableError*>(&error) != nullptr, kind == ErrorKind::kUnavailable);
    }
  }
}

TEST(Fault, OfAnOption_KeepsItsNameInAnyContext) {
  for (const ErrorKind kind : {ErrorKind::kUsage, ErrorKind::kInput, ErrorKind::kUnavailable, ErrorKind::kOutput}) {
    const Fault fault = Error(kind, OfOption("levels", "0"), "at least 1 is needed", Hint::kMoreLevels).fault();
    EXPECT_EQ(fault.what, "levels 0: at least 1 is needed");
    try {
      throw_fault(fault);
    } catch (const Error& error) {
      EXPECT_EQ(error.option(), "levels");
      EXPECT_EQ(error.fault().what, fault.what);
      EXPECT_EQ(error.hint(), Hint::kMoreLevels);
    }
    try {
      throw_fault(in_context(fault, "frame 3"), "levels\n1.mp4");
    } catch (const Error& error) {
      EXPECT_EQ(error.option(), "levels");
      EXPECT_STREQ(error.what(), "levels\\n1.mp4: frame 3: levels 0: at least 1 is needed");
      EXPECT_EQ(error_text(error), "levels\\n1.mp4: frame 3: --levels 0: at least 1 is needed; raise --levels");
    }
  }
}

TEST(Fault, OfADevice_IsUnavailableWithItsRemedy) {
  const Fault memory = fault_of(DeviceError("cudaMalloc failed", DeviceRemedy::kLessMemory));
  EXPECT_EQ(memory.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(memory.what, "cudaMalloc failed");
  EXPECT_EQ(memory.hint, Hint::kLessMemory);
  EXPECT_EQ(fault_of(DeviceError("lost")).hint, Hint::kNone);
  EXPECT_EQ(fault_of(DeviceError("old", DeviceRemedy::kUseCpu)).hint, Hint::kCpuBackend);
  EXPECT_EQ(fault_of(DeviceError("no EGL", DeviceRemedy::kAvoidGl)).hint, Hint::kDirectUpload);
  EXPECT_EQ(fault_of(DeviceError("large", DeviceRemedy::kSmallerTexture)).hint, Hint::kSmallerFrameOrCpu);
}

}  // namespace
}  // namespace saccade
