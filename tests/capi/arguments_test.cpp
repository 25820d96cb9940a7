// What the C interface does with arguments that make no sense. What it does with good ones: tests/package.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <saccade/picture.h>
#include <saccade/saccade.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/required.h"
#include "tests/support/temp_dir.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kUri = "test://box?size=64x64&frames=3";

template <typename Handle, void (*kFree)(Handle*)>
struct Free {
  void operator()(Handle* handle) const { kFree(handle); }
};
using Options = std::unique_ptr<saccade_options, Free<saccade_options, saccade_options_free>>;
using Stream = std::unique_ptr<saccade_stream, Free<saccade_stream, saccade_stream_free>>;
using Emission = std::unique_ptr<saccade_emission, Free<saccade_emission, saccade_emission_release>>;

Options cpu_options() {
  Options options(saccade_options_new());
  EXPECT_EQ(saccade_options_set(options.get(), "backend", "cpu"), SACCADE_OK);
  return options;
}

Stream new_stream(const Options& options = cpu_options()) {
  saccade_stream* stream = nullptr;
  EXPECT_EQ(saccade_stream_new(options.get(), &stream), SACCADE_OK) << saccade_last_error();
  return Stream(stream);
}

Stream open_stream(const char* uri = kUri) {
  Stream stream = new_stream();
  EXPECT_EQ(saccade_stream_open(stream.get(), uri), SACCADE_OK) << saccade_last_error();
  return stream;
}

Emission next(const Stream& stream) {
  saccade_emission* emission = nullptr;
  EXPECT_EQ(saccade_stream_next(stream.get(), -1, &emission), SACCADE_OK) << saccade_last_error();
  return Emission(emission);
}

std::vector<unsigned char> patches(const Emission& emission) {
  saccade_emission_view view{};
  view.struct_size = sizeof view;
  EXPECT_EQ(saccade_emission_get(emission.get(), &view), SACCADE_OK) << saccade_last_error();
  std::vector<unsigned char> bytes(view.patches_bytes);
  EXPECT_EQ(saccade_emission_copy(emission.get(), bytes.data(), bytes.size(), nullptr, 0, nullptr, 0), SACCADE_OK);
  return bytes;
}

// The call refuses its arguments and says which function it was.
#define EXPECT_REFUSED(function, ...)                              \
  do {                                                             \
    EXPECT_EQ(function(__VA_ARGS__), SACCADE_ERROR_USAGE);         \
    EXPECT_THAT(saccade_last_error(), StartsWith(#function ": ")); \
    EXPECT_EQ(saccade_last_error_status(), SACCADE_ERROR_USAGE);   \
  } while (false)

TEST(Arguments, Null_IsRefused) {
  saccade_stream* stream = nullptr;
  saccade_emission* emission = nullptr;
  const char* text = nullptr;
  EXPECT_REFUSED(saccade_options_set, nullptr, "rate", "4");
  EXPECT_REFUSED(saccade_options_get, nullptr, "rate", &text);
  EXPECT_REFUSED(saccade_options_set_log, nullptr, SACCADE_LOG_INFO, nullptr, nullptr);
  EXPECT_REFUSED(saccade_option_describe, 0, nullptr);
  EXPECT_REFUSED(saccade_backend_check, nullptr, 0);
  EXPECT_REFUSED(saccade_stream_new, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_open, nullptr, kUri);
  EXPECT_REFUSED(saccade_stream_interrupt, nullptr);
  EXPECT_REFUSED(saccade_stream_next, nullptr, 0, &emission);
  EXPECT_REFUSED(saccade_stream_look, nullptr, 0.5F, 0.5F);
  EXPECT_REFUSED(saccade_stream_forget, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_probe, nullptr, kUri, nullptr);
  EXPECT_REFUSED(saccade_stream_next_into, nullptr, 0, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_open_frames, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_push, nullptr, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_push_end, nullptr);
  EXPECT_REFUSED(saccade_stream_attend, nullptr, nullptr, 0, 0, nullptr);
  EXPECT_REFUSED(saccade_stream_set_fixation, nullptr, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_set_scanpath, nullptr, nullptr, 0);
  EXPECT_REFUSED(saccade_get_memory_use, nullptr);
  EXPECT_REFUSED(saccade_gl_buffer_new, 1, 0, nullptr);
  EXPECT_REFUSED(saccade_gl_buffer_write, nullptr, nullptr, 0, 0, nullptr, 0);
  EXPECT_REFUSED(saccade_gl_buffer_size, nullptr, nullptr);
  saccade_gl_buffer_free(nullptr);
  EXPECT_REFUSED(saccade_stream_get_info, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_get_geometry, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_get_level, nullptr, 0, 0, nullptr);
  EXPECT_REFUSED(saccade_stream_read_level, nullptr, 0, 0, nullptr, 0);
  EXPECT_REFUSED(saccade_stream_get_counters, nullptr, nullptr);
  EXPECT_REFUSED(saccade_stream_get_end, nullptr, nullptr);
  EXPECT_REFUSED(saccade_emission_get, nullptr, nullptr);
  EXPECT_REFUSED(saccade_emission_copy, nullptr, nullptr, 0, nullptr, 0, nullptr, 0);
  saccade_options_free(nullptr);
  saccade_stream_free(nullptr);
  saccade_emission_release(nullptr);
  EXPECT_EQ(stream, nullptr);

  const Options options = cpu_options();
  EXPECT_REFUSED(saccade_options_set, options.get(), nullptr, "4");
  EXPECT_REFUSED(saccade_options_set, options.get(), "rate", nullptr);
  EXPECT_REFUSED(saccade_options_get, options.get(), "rate", nullptr);
  EXPECT_REFUSED(saccade_options_get, options.get(), nullptr, &text);
  EXPECT_STREQ(text, "");
  const Stream open = open_stream();
  EXPECT_REFUSED(saccade_stream_open, open.get(), nullptr);
  EXPECT_REFUSED(saccade_stream_open, open.get(), "");
  EXPECT_REFUSED(saccade_stream_next, open.get(), 0, nullptr);
  EXPECT_REFUSED(saccade_stream_get_info, open.get(), nullptr);
  EXPECT_REFUSED(saccade_stream_read_level, open.get(), 0, 0, nullptr, 0);
  EXPECT_REFUSED(saccade_emission_get, next(open).get(), nullptr);
}

TEST(Arguments, StreamWithoutSource_RefusesWhatNeedsOne) {
  const Stream stream = new_stream();
  saccade_emission* emission = nullptr;
  saccade_stream_info info{};
  info.struct_size = sizeof info;
  EXPECT_REFUSED(saccade_stream_next, stream.get(), 0, &emission);
  EXPECT_REFUSED(saccade_stream_look, stream.get(), 0.5F, 0.5F);
  EXPECT_REFUSED(saccade_stream_forget, stream.get(), nullptr);
  EXPECT_REFUSED(saccade_stream_get_info, stream.get(), &info);
  EXPECT_EQ(saccade_stream_open(stream.get(), "no/such/file.mp4"), SACCADE_ERROR_INPUT);
  EXPECT_THAT(saccade_last_error(), HasSubstr("no/such/file.mp4"));
  EXPECT_REFUSED(saccade_stream_next, stream.get(), 0, &emission);
  EXPECT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK) << saccade_last_error();
}

// A size that never was is refused; fields that a larger struct has, and this library doesn't know, become 0.
TEST(Arguments, OutsideOfTheirRange_AreRefused) {
  const Stream stream = open_stream();
  for (const float value : {-0.01F, 1.01F, NAN, INFINITY}) {
    EXPECT_EQ(saccade_stream_look(stream.get(), value, 0.5F), SACCADE_ERROR_USAGE);
    EXPECT_EQ(saccade_stream_look(stream.get(), 0.5F, value), SACCADE_ERROR_USAGE);
  }
  saccade_level level{};
  level.struct_size = sizeof level;
  EXPECT_REFUSED(saccade_stream_get_level, stream.get(), -1, 0, &level);
  EXPECT_REFUSED(saccade_stream_get_level, stream.get(), 2, 0, &level);
  EXPECT_REFUSED(saccade_stream_get_level, stream.get(), 0, 7, &level);
  EXPECT_REFUSED(saccade_stream_get_level, stream.get(), 1, 6, &level);
  saccade_option option{};
  option.struct_size = sizeof option;
  EXPECT_REFUSED(saccade_option_describe, saccade_option_count(), &option);
  EXPECT_EQ(saccade_backend_check("abacus", 0), SACCADE_ERROR_USAGE);
  EXPECT_EQ(saccade_backend_check("cpu", 0), SACCADE_OK);

  const Emission emission = next(stream);
  saccade_emission_view view{};
  view.struct_size = sizeof view;
  ASSERT_EQ(saccade_emission_get(emission.get(), &view), SACCADE_OK);
  std::vector<unsigned char> memory(view.patches_bytes + 1, 0xaa);
  EXPECT_REFUSED(saccade_emission_copy, emission.get(), memory.data(), memory.size(), nullptr, 0, nullptr, 0);
  EXPECT_REFUSED(saccade_emission_copy, emission.get(), memory.data(), view.patches_bytes, nullptr, 0, memory.data(),
                 1);
  EXPECT_EQ(memory, std::vector<unsigned char>(memory.size(), 0xaa));
}

TEST(Options, EachRow_IsDescribedAndKeepsItsDefault) {
  const Options options = cpu_options();
  ASSERT_GT(saccade_option_count(), 30U);
  for (std::size_t i = 0; i < saccade_option_count(); ++i) {
    saccade_option option{};
    option.struct_size = sizeof option;
    ASSERT_EQ(saccade_option_describe(i, &option), SACCADE_OK);
    EXPECT_STRNE(option.name, "");
    EXPECT_STRNE(option.help, "") << option.name;
    EXPECT_THAT(std::string(option.help) + option.more, testing::Not(HasSubstr("--"))) << option.name;
    const char* text = nullptr;
    ASSERT_EQ(saccade_options_get(options.get(), option.name, &text), SACCADE_OK);
    if (std::strcmp(option.name, "backend") == 0) continue;
    EXPECT_STREQ(text, option.default_text) << option.name;
    if (*text == '\0') continue;
    EXPECT_EQ(saccade_options_set(options.get(), option.name, option.default_text), SACCADE_OK) << saccade_last_error();
  }
  Stream(new_stream(options));  // nothing conflicts
}

TEST(Options, ThatAreWrong_SayWhatIsRight) {
  const Options options = cpu_options();
  EXPECT_EQ(saccade_options_set(options.get(), "tokns", "9"), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("did you mean 'tokens'"));
  EXPECT_EQ(saccade_options_set(options.get(), "lattice", "hexagons"), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("nested"));
  const char* text = nullptr;
  EXPECT_EQ(saccade_options_get(options.get(), "lattice", &text), SACCADE_OK);
  EXPECT_STREQ(text, "adaptive");
  for (const char* value : {"center:2,2", "center:0.5", "raster:0x0", "raster:3", "novelty:1", "file"}) {
    EXPECT_EQ(saccade_options_set(options.get(), "fixation", value), SACCADE_ERROR_USAGE) << value;
  }
  for (const char* value : {"64", "0x0", "64x64x3", "64x-1", "64 x 64"}) {
    EXPECT_EQ(saccade_options_set(options.get(), "input-size", value), SACCADE_ERROR_USAGE) << value;
  }
  for (const char* value : {"64x48", "hd720"}) {
    EXPECT_EQ(saccade_options_set(options.get(), "input-size", value), SACCADE_OK) << saccade_last_error();
  }
  EXPECT_EQ(saccade_options_set(options.get(), "normalize", "clip"), SACCADE_OK);  // of u8: found when all are there
  saccade_stream* stream = nullptr;
  EXPECT_EQ(saccade_stream_new(options.get(), &stream), SACCADE_ERROR_USAGE);
  EXPECT_EQ(stream, nullptr);
  EXPECT_THAT(saccade_last_error(), HasSubstr("normalize"));
}

// Any text is taken or refused, and nothing else happens.
TEST(Options, RandomTexts_AreTakenOrRefused) {
  std::mt19937 random(7);
  const std::string letters = "0123456789.,:-x/abcinfe% \n\xc3\xa4";
  for (int round = 0; round < 3000; ++round) {
    const Options options = cpu_options();
    saccade_option option{};
    option.struct_size = sizeof option;
    ASSERT_EQ(saccade_option_describe(random() % saccade_option_count(), &option), SACCADE_OK);
    std::string text(random() % 8, ' ');
    for (char& letter : text) letter = letters[random() % letters.size()];
    const saccade_status status = saccade_options_set(options.get(), option.name, text.c_str());
    ASSERT_THAT(status, testing::AnyOf(SACCADE_OK, SACCADE_ERROR_USAGE)) << option.name << " " << text;
    if (status != SACCADE_OK) {
      ASSERT_THAT(saccade_last_error(), HasSubstr(option.name));
    }
  }
}

TEST(LastError, OfAnOption_SaysWhichAndWhere) {
  EXPECT_EQ(saccade_backend_check("abacus", 0), SACCADE_ERROR_USAGE);
  size_t at = 99;
  EXPECT_STREQ(saccade_last_error_option(&at), "backend");
  EXPECT_EQ(at, std::string(saccade_last_error()).find("backend abacus"));
  const Options options = cpu_options();
  ASSERT_EQ(saccade_options_set(options.get(), "lattice", "nested"), SACCADE_OK);
  ASSERT_EQ(saccade_options_set(options.get(), "patches", "2"), SACCADE_OK);
  const Stream stream = new_stream(options);
  EXPECT_EQ(saccade_stream_open(stream.get(), "test://box?size=64x64"), SACCADE_ERROR_USAGE);
  EXPECT_STREQ(saccade_last_error_option(&at), "patches");
  EXPECT_EQ(at, std::string("test://box?size=64x64: ").size()) << saccade_last_error();
  EXPECT_EQ(std::string(saccade_last_error()).substr(at, 11), "patches 2: ");
  EXPECT_STREQ(saccade_last_error_option(nullptr), "patches");
  EXPECT_LT(saccade_stream_open(stream.get(), "no/such.mp4"), 0);  // of an input
  EXPECT_STREQ(saccade_last_error_option(&at), "");
  EXPECT_EQ(at, 0U);
}

// The option that is named, and the text from there on.
std::pair<std::string, std::string> named_option() {
  size_t at = 0;
  const std::string option = saccade_last_error_option(&at);
  return {option, std::string(saccade_last_error()).substr(at)};
}

// What comes out only when the source is opened, or its first frame was decoded.
TEST(LastError, OfAnOptionThatTheInputRefuses_SaysWhich) {
  const saccade::test::TempDir folder;
  const std::string raw = (folder.path() / "raw.yuv").string();
  std::ofstream(raw) << std::string(6000, 'x');  // 64 x 64 would be 6144 bytes
  const std::string graph = "lavfi:testsrc2=size=64x64:rate=25:duration=1";
  struct Case {
    std::vector<std::pair<const char*, const char*>> options;
    std::string uri, option, text;
  };
  const std::vector<Case> cases = {
      {{{"vf", "nosuch"}}, graph, "vf", "vf 'nosuch': "},
      {{{"vf", "scale=64:48,crop=4000:4000"}}, graph, "vf", "vf 'scale=64:48,crop=4000:4000': "},
      {{{"vf", "select=0"}}, graph, "vf", "vf 'select=0': "},
      {{{"vf", "hflip"}}, kUri, "vf", "vf 'hflip': "},
      {{{"stream", "7"}}, graph, "stream", "stream 7: "},
      {{{"stream", "7"}}, kUri, "stream", "stream 7: "},
      {{{"start", "100"}}, graph, "start", "start 100: "},
      {{{"start", "100"}}, kUri, "start", "start 100: "},
      {{{"max-pixels", "100"}}, graph, "max-pixels", "max-pixels 100: a picture has more pixels"},
      {{{"max-pixels", "100"}}, kUri, "max-pixels", "max-pixels 100: 64x64 is 4096 pixels"},
      {{{"input-size", "64x64"}}, kUri, "input-size", "input-size '64x64': "},
      {{{"input-size", "nosuch"}, {"input-format", "rawvideo"}}, raw, "input-size", "input-size 'nosuch': "},
      {{{"input-size", "64x64"}, {"input-format", "rawvideo"}},
       raw,
       "input-size",
       "input-size '64x64': no frame could be decoded: "},
      {{{"input-format", "h264"}}, graph, "input-format", "input-format 'h264': "},
      {{{"fixation", "file:/no/such/gaze.csv"}}, kUri, "fixation", "fixation file:/no/such/gaze.csv: cannot read"},
      {{{"levels", "16"}}, kUri, "levels", "levels 16: "},
  };
  for (const Case& wrong : cases) {
    const Options options = cpu_options();
    for (const auto& [name, value] : wrong.options) {
      ASSERT_EQ(saccade_options_set(options.get(), name, value), SACCADE_OK) << saccade_last_error();
    }
    const Stream stream = new_stream(options);
    EXPECT_LT(saccade_stream_open(stream.get(), wrong.uri.c_str()), 0) << wrong.text;
    const auto [option, text] = named_option();
    EXPECT_EQ(option, wrong.option) << saccade_last_error();
    EXPECT_THAT(text, StartsWith(wrong.text)) << saccade_last_error();
  }
}

TEST(Options, WithoutAnEffect_AreRefusedByName) {
  const auto refused = [](const std::vector<std::pair<const char*, const char*>>& settings, const char* uri) {
    const Options options = cpu_options();
    for (const auto& [name, value] : settings) {
      EXPECT_EQ(saccade_options_set(options.get(), name, value), SACCADE_OK) << saccade_last_error();
    }
    saccade_stream* made = nullptr;
    saccade_status status = saccade_stream_new(options.get(), &made);
    const Stream stream(made);
    if (status == SACCADE_OK) status = saccade_stream_open(made, uri);
    if (status == SACCADE_OK) return std::string();
    EXPECT_EQ(status, SACCADE_ERROR_USAGE);
    return named_option().first;
  };
  EXPECT_EQ(refused({{"ignore", "1,1,9,9"}, {"fixation", "center"}, {"lattice", "nested"}}, kUri), "ignore");
  EXPECT_EQ(refused({{"ignore", "1,1,9,9"}, {"fixation", "center"}}, kUri), "") << "lattice adaptive leaves it out";
  EXPECT_EQ(refused({{"noise-floor", "7"}, {"fixation", "random"}}, kUri), "noise-floor");
  EXPECT_EQ(refused({{"device", "1"}}, kUri), "device");
  EXPECT_EQ(refused({{"staged", "true"}}, kUri), "staged");
  EXPECT_EQ(refused({{"reconnect", "0"}, {"reconnect-delay-max", "3"}}, kUri), "reconnect-delay-max");
  EXPECT_EQ(refused({{"threads", "3"}}, kUri), "threads");
  EXPECT_EQ(refused({{"rtsp-transport", "udp"}}, "lavfi:testsrc2=size=64x64"), "rtsp-transport");
  // A default asks for nothing, and what has an effect is taken.
  EXPECT_EQ(refused({{"threads", "0"}, {"noise-floor", "8"}, {"fixation", "center"}, {"device", "0"}}, kUri), "");
  EXPECT_EQ(refused({{"threads", "3"}}, "lavfi:testsrc2=size=64x64"), "");
  EXPECT_EQ(refused({{"ignore", "1,1,9,9"}, {"fixation", "saliency"}}, kUri), "");
}

// In the order in which a caller meets them: nothing is there to be read until a frame was taken.
TEST(Levels, BeforeTheFirstFrame_AreRefused) {
  const Stream stream = open_stream();
  saccade_level level{};
  level.struct_size = sizeof level;
  ASSERT_EQ(saccade_stream_get_level(stream.get(), 0, 0, &level), SACCADE_OK);
  std::vector<unsigned char> texels(level.size_bytes);
  EXPECT_REFUSED(saccade_stream_read_level, stream.get(), 0, 0, texels.data(), texels.size());
  EXPECT_THAT(saccade_last_error(), HasSubstr("no frame was taken yet"));
  static_cast<void>(next(stream));
  EXPECT_EQ(saccade_stream_read_level(stream.get(), 0, 0, texels.data(), texels.size()), SACCADE_OK);
  ASSERT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK);
  EXPECT_REFUSED(saccade_stream_read_level, stream.get(), 0, 0, texels.data(), texels.size());
}

TEST(LastError, OtherThread_HasItsOwn) {
  EXPECT_EQ(saccade_backend_check("abacus", 0), SACCADE_ERROR_USAGE);
  std::thread([] {
    EXPECT_EQ(saccade_last_error_status(), SACCADE_OK);
    EXPECT_STREQ(saccade_last_error(), "");
    EXPECT_STREQ(saccade_last_error_hint(), "");
    EXPECT_EQ(saccade_stream_interrupt(nullptr), SACCADE_ERROR_USAGE);
  }).join();
  EXPECT_THAT(saccade_last_error(), HasSubstr("abacus"));
}

TEST(Stream, Destroyed_LeavesItsEmissions) {
  Stream stream = open_stream("test://box?size=64x64&frames=90");
  std::vector<Emission> emissions;
  for (int i = 0; i < 5; ++i) emissions.push_back(next(stream));
  emissions.erase(emissions.begin() + 1);
  stream.reset();
  std::thread([&] { emissions.pop_back(); }).join();
  for (const Emission& emission : emissions) {
    EXPECT_FALSE(patches(emission).empty());
  }
}

TEST(Stream, OpenedAgain_Restarts) {
  const Stream stream = open_stream();
  const Emission before = next(stream);
  ASSERT_EQ(saccade_stream_open(stream.get(), "test://static?size=80x48&frames=2"), SACCADE_OK);
  saccade_geometry geometry{};
  geometry.struct_size = sizeof geometry;
  ASSERT_EQ(saccade_stream_get_geometry(stream.get(), &geometry), SACCADE_OK);
  EXPECT_EQ(geometry.width_px, 80);
  EXPECT_NE(next(stream), nullptr);
  saccade_emission* none = nullptr;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(saccade_stream_next(stream.get(), -1, &none), SACCADE_END);
}

// A pipe that nobody writes to: opening it has no end of its own.
TEST(Stream, InterruptWhileOpening_EndsPromptly) {
  const saccade::test::TempDir folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const Stream stream = new_stream();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(saccade_stream_interrupt(stream.get()), SACCADE_OK);
  });
  EXPECT_EQ(saccade_stream_open(stream.get(), path.c_str()), SACCADE_ERROR_INTERRUPTED);
  EXPECT_THAT(saccade_last_error(), HasSubstr(path));
  other.join();
}

// OpenGL's context is the thread's, not the stream's: each call makes its own stream's current.
TEST(Stream, TwoOnOpenGL_TakeTurnsOnOneThread) {
  if (saccade_backend_check("gl", 0) != SACCADE_OK) {
    saccade::testing::skip_or_fail("gl", saccade_last_error());
    return;
  }
  const char* const uris[] = {"test://pan?size=320x240&frames=6", "test://box?size=200x100&frames=6"};
  Stream streams[2][2];  // [URI][0: gl, 1: cpu]
  for (int i = 0; i < 2; ++i) {
    for (int on_cpu = 0; on_cpu < 2; ++on_cpu) {
      const Options options = cpu_options();
      saccade_options_set(options.get(), "backend", on_cpu ? "cpu" : "gl");
      saccade_options_set(options.get(), "every", "frame");
      saccade_options_set(options.get(), "fixation", "center");
      streams[i][on_cpu] = new_stream(options);
      ASSERT_EQ(saccade_stream_open(streams[i][on_cpu].get(), uris[i]), SACCADE_OK) << saccade_last_error();
    }
  }
  for (int frame = 0; frame < 6; ++frame) {
    for (int i = 0; i < 2; ++i) {
      const auto on_gl = patches(next(streams[i][0])), on_cpu = patches(next(streams[i][1]));
      ASSERT_EQ(on_gl.size(), on_cpu.size());
      for (std::size_t n = 0; n < on_cpu.size(); ++n) ASSERT_NEAR(on_gl[n], on_cpu[n], 2) << frame << " " << i;
    }
  }
}

// Interrupts fall into every state that a stream can be in.
TEST(Stream, InterruptAtAnyMoment_EndsIt) {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    const Options options = cpu_options();
    saccade_options_set(options.get(), "loop", "true");
    const Stream stream = new_stream(options);
    std::thread other([&, wait_us = random() % 3000] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
      EXPECT_EQ(saccade_stream_interrupt(stream.get()), SACCADE_OK);
    });
    saccade_status status = saccade_stream_open(stream.get(), kUri);
    while (status == SACCADE_OK) {
      saccade_emission* emission = nullptr;
      status = saccade_stream_next(stream.get(), -1, &emission);
      saccade_emission_release(emission);
    }
    EXPECT_EQ(status, SACCADE_ERROR_INTERRUPTED) << saccade_last_error();
    other.join();
  }
}

TEST(Log, LevelAskedFor_ComesLineByLine) {
  std::atomic<int> lines{0};
  const Options options = cpu_options();
  const auto count = [](void* user, saccade_log_level level, const char* line) {
    ++*static_cast<std::atomic<int>*>(user);
    EXPECT_GE(level, SACCADE_LOG_DEBUG);
    EXPECT_EQ(std::string(line).find('\n'), std::string::npos);
  };
  ASSERT_EQ(saccade_options_set_log(options.get(), SACCADE_LOG_DEBUG, count, &lines), SACCADE_OK);
  const Stream stream = new_stream(options);
  ASSERT_EQ(saccade_options_set_log(options.get(), SACCADE_LOG_DEBUG, nullptr, nullptr), SACCADE_OK);
  ASSERT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK);
  EXPECT_NE(next(stream), nullptr);
}

}  // namespace
