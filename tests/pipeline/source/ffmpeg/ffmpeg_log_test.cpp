// FFmpeg has one log for a process: each message goes to the source that it is about, and nobody else's is touched.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/open.h"
#include "tests/pipeline/source/support.h"

extern "C" {
#include <libavutil/imgutils.h>
}

namespace saccade::test {
namespace {

struct Lines {
  std::mutex mutex;
  std::vector<std::string> lines;
  Log log() {
    return Log(
        [this](LogLevel, std::string_view line) {
          const std::lock_guard lock(mutex);
          lines.emplace_back(line);
        },
        LogLevel::kWarning);
  }
  std::size_t count(const std::string& word) {
    const std::lock_guard lock(mutex);
    std::size_t found = 0;
    for (const std::string& line : lines) found += line.find(word) != std::string::npos ? 1 : 0;
    return found;
  }
};

// H.264 in a transport stream; damaged: with bytes inverted where pictures are.
std::string make_clip(const TempDir& dir, const std::string& name, bool damaged) {
  ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25:duration=2 -c:v libx264 -threads 1 -g 10 -bf 0 -f h264 " +
         dir.file(name));
  if (!damaged) return dir.file(name);
  std::ifstream in(dir.file(name), std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t i = bytes.size() / 3; i < bytes.size() * 2 / 3; i += 97) bytes[i] = static_cast<char>(~bytes[i]);
  std::ofstream(dir.file(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return dir.file(name);
}

SourceConfig config_of(const std::string& path, Lines& lines) {
  SourceConfig config;
  config.uri = path;
  config.threads = 2;
  config.log = lines.log();
  return config;
}

std::string stderr_of(const std::function<void()>& work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

// A callback of somebody else's.
std::atomic<int> strangers_messages{0};
void strangers_callback(void*, int level, const char*, va_list) { strangers_messages += level <= AV_LOG_ERROR ? 1 : 0; }

TEST(FfmpegLog, SourcesOnTwoThreads_EachGetTheirOwnMessages) {
  const TempDir dir;
  const std::string damaged = make_clip(dir, "damaged.h264", true), whole = make_clip(dir, "whole.h264", false);
  for (int round = 0; round < 5; ++round) {
    Lines of_damaged, of_whole;
    Recording bad, good;
    std::thread other([&] { bad = record(config_of(damaged, of_damaged)); });
    good = record(config_of(whole, of_whole));
    other.join();
    EXPECT_GT(of_damaged.count("h264"), 0U);
    EXPECT_GT(bad.counters.packets_corrupt + bad.counters.frames_corrupt, 0);
    EXPECT_EQ(of_whole.lines, std::vector<std::string>());
    EXPECT_EQ(good.counters.packets_corrupt + good.counters.frames_corrupt, 0);
    EXPECT_EQ(good.shots.size(), 50U);
  }
}

TEST(FfmpegLog, SourcesGoInAnyOrder_TheOthersKeepTheirs) {
  const TempDir dir;
  const std::string damaged = make_clip(dir, "damaged.h264", true);
  Lines of_first, of_second;
  auto first = open_source(config_of(damaged, of_first));
  const auto second = open_source(config_of(damaged, of_second));
  first.reset();
  const std::size_t before = of_first.count("");
  Frame frame;
  while (second->next(frame) == ReadStatus::kOk) second->recycle(std::move(frame));
  EXPECT_GT(of_second.count("h264"), 0U);
  EXPECT_EQ(of_first.count(""), before);
}

TEST(FfmpegLog, StrangersMessages_GoToTheDefaultCallback) {
  const TempDir dir;
  Lines lines;
  const auto source = open_source(config_of(make_clip(dir, "whole.h264", false), lines));
  int strangers_own = 7;
  const CodecContextPtr context(avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264)));
  context->opaque = &strangers_own;
  const std::string shown = stderr_of([&] {
    av_log(nullptr, AV_LOG_ERROR, "of nobody\n");
    av_log(context.get(), AV_LOG_ERROR, "of a stranger's decoder\n");
    av_log(context.get(), AV_LOG_DEBUG, "too quiet\n");
  });
  EXPECT_NE(shown.find("of nobody"), std::string::npos);
  EXPECT_NE(shown.find("of a stranger's decoder"), std::string::npos);
  EXPECT_EQ(shown.find("too quiet"), std::string::npos);
  EXPECT_EQ(strangers_own, 7);
  EXPECT_EQ(lines.lines, std::vector<std::string>());
}

TEST(FfmpegLog, CallbackInstalledMeanwhile_Stays) {
  const TempDir dir;
  Lines lines;
  auto source = open_source(config_of(make_clip(dir, "whole.h264", false), lines));
  av_log_set_callback(strangers_callback);
  source.reset();
  strangers_messages = 0;
  av_log(nullptr, AV_LOG_ERROR, "to the stranger\n");
  EXPECT_EQ(strangers_messages, 1);
  av_log_set_callback(av_log_default_callback);
}

TEST(FfmpegLog, AfterTheLastSource_TheDefaultIsBack) {
  const TempDir dir;
  Lines lines;
  open_source(config_of(make_clip(dir, "whole.h264", false), lines)).reset();
  const std::string shown = stderr_of([] { av_log(nullptr, AV_LOG_ERROR, "to everybody\n"); });
  EXPECT_NE(shown.find("to everybody"), std::string::npos);
}

TEST(FfmpegLog, Complaints_AreCountedOfOwnedDecodersAlone) {
  const FfmpegLog first{Log()}, second{Log()};
  const CodecContextPtr context(avcodec_alloc_context3(nullptr));
  first.own(*context);
  av_log(context.get(), AV_LOG_ERROR, "damage\n");
  av_log(context.get(), AV_LOG_WARNING, "no damage\n");
  std::thread([&] { av_log(context.get(), AV_LOG_DEBUG, "Frame num gap 3 1\n"); }).join();
  EXPECT_EQ(first.complaints(), 2);
  EXPECT_EQ(second.complaints(), 0);
}

TEST(ErrorCapture, ErrorsOfItsThread_KeepsTheFirstInSilence) {
  Lines lines;
  const FfmpegLog log(lines.log());
  const FfmpegLog::Scope scope(log);
  const std::string shown = stderr_of([] {
    const ErrorCapture outer;
    {
      const ErrorCapture inner;
      av_log(nullptr, AV_LOG_ERROR, "the first\n");
      av_log(nullptr, AV_LOG_ERROR, "the second\n");
      EXPECT_EQ(inner.first(), "the first");
      EXPECT_NE(inner.explain(AVERROR(ENOENT)).find("(the first)"), std::string::npos);
    }
    std::thread([] { av_log(nullptr, AV_LOG_ERROR, "of another thread\n"); }).join();
    EXPECT_EQ(outer.first(), "");
  });
  EXPECT_EQ(lines.lines, std::vector<std::string>());
  EXPECT_NE(shown.find("of another thread"), std::string::npos);
  EXPECT_EQ(shown.find("the first"), std::string::npos);
}

TEST(ErrorCapture, OwnedDecoderOnAnotherThread_IsKeptAndShown) {
  Lines lines;
  const FfmpegLog log(lines.log());
  const CodecContextPtr context(avcodec_alloc_context3(nullptr));
  log.own(*context);
  const FfmpegLog::Scope scope(log);
  const ErrorCapture capture;
  std::thread([&] { av_log(context.get(), AV_LOG_ERROR, "no such reference\n"); }).join();
  EXPECT_EQ(capture.first(), "no such reference");
  EXPECT_EQ(lines.count("no such reference"), 1U);
}

TEST(FfmpegLog, PartsOfADecoder_AreTheSources) {
  Lines lines;
  const FfmpegLog log(lines.log());
  const CodecContextPtr context(avcodec_alloc_context3(nullptr));
  log.own(*context);
  std::thread([&] { av_image_check_size2(0, 0, 1, AV_PIX_FMT_NONE, 0, context.get()); }).join();
  EXPECT_EQ(lines.count("IMGUTILS"), 1U);
  EXPECT_EQ(log.complaints(), 0);
}

TEST(FfmpegLog, RepeatedMessages_AreShownAtPowersOfTen) {
  Lines lines;
  const FfmpegLog log(lines.log());
  const FfmpegLog::Scope scope(log);
  for (int i = 0; i < 100; ++i) av_log(nullptr, AV_LOG_ERROR, "number %d\n", i);
  ASSERT_EQ(lines.lines.size(), 3U);
  EXPECT_EQ(lines.lines[0], "ffmpeg: number 0");
  EXPECT_EQ(lines.lines[1], "ffmpeg: number 9 (and 9 more like it)");
  EXPECT_EQ(lines.lines[2], "ffmpeg: number 99 (and 99 more like it)");
}

// A demuxer that was reading gives what it has of the packet, which no decoder can read.
TEST(FfmpegLog, InterruptInsideAPacket_IsNoDamage) {
  const TempDir dir;
  ffmpeg(
      "-f lavfi -i testsrc2=size=320x240:rate=25:duration=2,noise=alls=40:allf=t -c:v libx264 -threads 1 -bf 0 "
      "-movflags +faststart " +
      dir.file("whole.mp4"));
  std::ifstream in(dir.file("whole.mp4"), std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string pipe = dir.file("pipe.mp4");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::promise<void> all_read, over;
  std::thread writer([&, end = over.get_future()] {
    const int out = open(pipe.c_str(), O_WRONLY);
    const std::size_t size = bytes.size() * 3 / 5;
    for (std::size_t at = 0; at < size;) {
      const ssize_t written = write(out, bytes.data() + at, size - at);
      if (written < 0) break;
      at += static_cast<std::size_t>(written);
    }
    for (int left = 1; left > 0; std::this_thread::sleep_for(std::chrono::milliseconds(5))) ioctl(out, FIONREAD, &left);
    all_read.set_value();
    end.wait();  // it stays open: the reader waits for the rest
    close(out);
  });
  Lines lines;
  int frames = 0;
  {
    const auto source = open_source(config_of(pipe, lines));
    std::thread other([&] {
      all_read.get_future().wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      source->interrupt();
    });
    Frame frame;
    for (; source->next(frame) == ReadStatus::kOk; ++frames) source->recycle(std::move(frame));
    other.join();
  }
  over.set_value();
  writer.join();
  EXPECT_GT(frames, 10);
  EXPECT_LT(frames, 50);
  EXPECT_EQ(lines.lines, std::vector<std::string>());
}

TEST(FfmpegLog, ProgramThatTakesTheRest_GetsIt) {
  const auto take_the_rest = [] {
    log_other_messages(Log([](LogLevel, std::string_view line) { std::fprintf(stderr, "taken: %s\n", line.data()); }));
    av_log(nullptr, AV_LOG_ERROR, "an encoder's\n");
    std::exit(0);
  };
  EXPECT_EXIT(take_the_rest(), testing::ExitedWithCode(0), "taken: ffmpeg: an encoder's");
}

}  // namespace
}  // namespace saccade::test
