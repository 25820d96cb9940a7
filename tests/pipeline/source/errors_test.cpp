// What is wrong with an input or an option is said in one line that names it, and with the right exit code.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "pipeline/error.h"
#include "pipeline/source/open.h"
#include "tests/pipeline/source/support.h"

namespace saccade::test {
namespace {

// The message, after checking its kind, its hint and that it is one line which names the input.
std::string refusal(const SourceConfig& config, ErrorKind kind, Hint hint = Hint::kNone) {
  try {
    open_source(config);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_EQ(e.hint(), hint) << e.what();
    const std::string message = e.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << config.uri << " was opened";
  return "";
}

std::string refusal(const std::string& uri, ErrorKind kind = ErrorKind::kInput) {
  SourceConfig config;
  config.uri = uri;
  const std::string message = refusal(config, kind);
  EXPECT_NE(message.find(uri), std::string::npos) << message;
  return message;
}

void expect_word(const std::string& message, const std::string& word) {
  EXPECT_NE(message.find(word), std::string::npos) << message << "\nlacks: " << word;
}

TEST(SourceError, ControlCharactersInAName_AreWrittenOut) {
  SourceConfig config;
  config.uri = "a\nb\tc\x1b[31m\x7f.mp4";
  expect_word(refusal(config, ErrorKind::kInput), "a\\nb\\tc\\x1b[31m\\x7f.mp4");
  EXPECT_EQ(printable("Zürich – 東京.mp4"), "Zürich – 東京.mp4");
}

TEST(SourceError, BadFile_SaysWhatIsWrong) {
  const TempDir dir;
  expect_word(refusal(dir.file("missing.mp4")), "No such file");
  expect_word(refusal(dir.path().string()), "directory");
  std::ofstream(dir.file("empty.mp4")).flush();
  expect_word(refusal(dir.file("empty.mp4")), "empty");
  std::ofstream(dir.file("text.txt")) << "this is no video, only a few words\n";
  expect_word(refusal(dir.file("text.txt")), "not a video");
  std::ofstream(dir.file("zeros.mp4")) << std::string(4096, '\0');
  refusal(dir.file("zeros.mp4"));
}

TEST(SourceError, UnreadableFile_SaysPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const TempDir dir;
  std::ofstream(dir.file("secret.mp4")) << "x";
  chmod(dir.file("secret.mp4").c_str(), 0);
  expect_word(refusal(dir.file("secret.mp4")), "permission");
}

TEST(SourceError, ContainerWithoutVideo_SaysWhy) {
  const TempDir dir;
  ffmpeg("-f lavfi -i sine=duration=0.2 " + dir.file("tone.m4a"));
  expect_word(refusal(dir.file("tone.m4a")), "audio");
  ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v libx264 " + dir.file("whole.mp4"));
  run("head -c 2000 " + dir.file("whole.mp4") + " > " + dir.file("nomoov.mp4"));
  expect_word(refusal(dir.file("nomoov.mp4")), "moov");
}

TEST(SourceError, BadAddress_IsRefused) {
  expect_word(refusal("gopher-ng://host/clip"), "protocol");
  refusal("http://127.0.0.1:9/clip.mp4");
  refusal("lavfi:nosuchsource");
  refusal("test://nothing", ErrorKind::kUsage);
}

TEST(SourceError, BadFilter_IsNamed) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.2 -c:v libx264 " + dir.file("a.mp4"));
  SourceConfig config;
  config.uri = dir.file("a.mp4");
  config.filters = "nosuchfilter=3";
  expect_word(refusal(config, ErrorKind::kUsage, Hint::kCheckFilters), "nosuchfilter");
  config.filters = "scale=w=banana";
  expect_word(refusal(config, ErrorKind::kUsage, Hint::kCheckFilters), "scale=w=banana");
}

TEST(SourceError, TooLargeOrNoSuchStream_IsNamed) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.2 -c:v libx264 " + dir.file("a.mp4"));
  SourceConfig config;
  config.uri = dir.file("a.mp4");
  config.max_pixels = 64 * 48 - 1;
  expect_word(refusal(config, ErrorKind::kInput, Hint::kRaisePixelLimit), "64x48");
  config.max_pixels = 64 * 48;
  EXPECT_NO_THROW(open_source(config));
  config.stream_index = 1;
  expect_word(refusal(config, ErrorKind::kInput), "no video stream 1");
}

TEST(SourceError, LoopedStandardInput_IsRefused) {
  SourceConfig config;
  config.uri = "-";
  config.loops = 1;
  expect_word(refusal(config, ErrorKind::kUsage, Hint::kNoLoop), "looped");
}

TEST(Source, OddFileName_IsRead) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.2 -c:v libx264 " + dir.file("a.mp4"));
  for (const char* name :
       {"a:b.mp4", "http:x.mp4", "100% real.mp4", "frame%03d.mp4", "#h?q=1.mp4", "new\nline.mp4", "-dash"}) {
    std::filesystem::copy_file(dir.file("a.mp4"), dir.file(name));
    EXPECT_EQ(record(dir.file(name)).shots.size(), 5U) << name;
  }
  EXPECT_EQ(record("file:" + dir.file("a.mp4")).shots.size(), 5U);
  EXPECT_EQ(record("file://" + dir.file("a.mp4")).shots.size(), 5U);
}

TEST(Source, Lavfi_IsRead) {
  const Recording got = record("lavfi:testsrc2=size=66x50:rate=10:duration=0.5,format=yuv420p");
  EXPECT_EQ(got.shots.size(), 5U);
  EXPECT_EQ(got.info.width_px, 66);
}

TEST(Source, HwdecNotTried_SaysWhy) {
  SourceConfig config;
  config.uri = "lavfi:testsrc2=size=66x50:rate=10:duration=0.5,format=yuv420p";
  EXPECT_EQ(open_source(config)->info().hwdec_reason, "");
  config.why_no_hwdec = "vf needs the frames on the host";
  const auto source = open_source(config);
  EXPECT_EQ(source->info().hwdec, HwDecode::kNo);
  EXPECT_EQ(source->info().hwdec_reason, config.why_no_hwdec);
}

// One that fails at its first frame.
class FailedSource : public FrameSource {
 public:
  explicit FailedSource(ErrorKind kind) { fault_ = {kind, "clip.mp4: frame 0: a fault", Hint::kNone}; }
  ReadStatus next(Frame&) override { return ReadStatus::kFailed; }
  void interrupt() override {}
  void recycle(Frame) override {}
};

TEST(Source, Failed_TellsInputFromDevice) {
  EXPECT_THROW(throw_fault(FailedSource(ErrorKind::kInput).fault()), InputError);
  EXPECT_THROW(throw_fault(FailedSource(ErrorKind::kUnavailable).fault()), UnavailableError);
}

TEST(Source, Interrupted_Ends) {
  SourceConfig config;
  config.uri = "lavfi:testsrc2=size=66x50:rate=10";
  const auto source = open_source(config);
  source->interrupt();
  Frame frame;
  ReadStatus status = source->next(frame);
  if (status == ReadStatus::kOk) status = source->next(frame);  // the first one waits since opening
  EXPECT_EQ(status, ReadStatus::kEnd);
}

}  // namespace
}  // namespace saccade::test
