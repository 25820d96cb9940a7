// Manners in a process: fork(), contexts of the caller's, what is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/capi/handles.h"
#include "tests/capi/tensors.h"
#include "tests/support/required.h"

#if defined(SACCADE_GL)
#include <EGL/egl.h>

#include "gpu/gl/context.h"
#endif

namespace saccade::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kUri = "test://box?size=64x64&frames=300";
const Settings kCpu{{"backend", "cpu"}, {"every", "frame"}};

// What `body` writes to a pipe in a forked child; "" when the child did not end well within 20 s.
template <typename Body>
std::string in_child(Body&& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const std::string text = body();
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return text;
}

TEST(Process, AfterAFork_EveryCallSaysSo) {
  StreamHandle stream = open_stream(kUri, kCpu);
  saccade_emission* emission = nullptr;
  ASSERT_EQ(saccade_stream_next(stream.get(), -1, &emission), SACCADE_OK);
  EmissionHandle owned(emission);
  const std::string said = in_child([&] {
    std::string text;
    const auto note = [&text](saccade_status status) {
      text += std::to_string(status) + " " + saccade_last_error() + "\n";
    };
    saccade_emission* none = nullptr;
    auto view = sized<saccade_emission_view>();
    auto info = sized<saccade_stream_info>();
    const HostRoom room({});
    note(saccade_stream_next(stream.get(), -1, &none));
    note(saccade_stream_next_into(stream.get(), -1, &room.target, nullptr));
    note(saccade_stream_open(stream.get(), kUri));
    note(saccade_stream_get_info(stream.get(), &info));
    note(saccade_stream_look(stream.get(), 0.5F, 0.5F));
    note(saccade_stream_interrupt(stream.get()));
    note(saccade_emission_get(owned.get(), &view));
    saccade_emission_release(owned.release());
    saccade_stream_free(stream.release());
    return text;
  });
  std::size_t lines = 0;
  for (std::size_t at = 0; at < said.size(); at = said.find('\n', at) + 1, ++lines) {
    EXPECT_EQ(said.substr(at, 2), "-1") << said;
    EXPECT_THAT(said.substr(at, said.find('\n', at) - at), HasSubstr("fork()"));
  }
  EXPECT_EQ(lines, 7U) << said;
  EXPECT_EQ(take_next(stream).status, SACCADE_OK) << "the parent goes on";
}

TEST(Process, ChildOfAFork_MakesStreamsOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer lets no child of a process with threads start one: \"dup thread with used id\"";
#endif
  const StreamHandle parents = open_stream(kUri, kCpu);
  ASSERT_EQ(take_next(parents).status, SACCADE_OK);
  const std::string said = in_child([] {
    const StreamHandle stream = make_stream(kCpu);
    if (saccade_stream_open(stream.get(), kUri) != SACCADE_OK) return std::string(saccade_last_error());
    int emissions = 0;
    while (take_next(stream).status == SACCADE_OK) ++emissions;
    return std::to_string(emissions);
  });
  EXPECT_EQ(said, "300");
}

saccade_memory_use memory_now() {
  auto use = sized<saccade_memory_use>();
  EXPECT_EQ(saccade_get_memory_use(&use), SACCADE_OK) << saccade_last_error();
  return use;
}

TEST(Process, Handles_AreCounted) {
  const saccade_memory_use before = memory_now();
  StreamHandle stream = open_stream(kUri, kCpu);
  saccade_emission* emission = nullptr;
  ASSERT_EQ(saccade_stream_next(stream.get(), -1, &emission), SACCADE_OK);
  EmissionHandle owned(emission);
  EXPECT_EQ(memory_now().streams, before.streams + 1);
  EXPECT_EQ(memory_now().emissions, before.emissions + 1);
  stream.reset();
  EXPECT_EQ(memory_now().streams, before.streams);
  EXPECT_EQ(memory_now().emissions, before.emissions + 1);
  owned.reset();
  EXPECT_EQ(memory_now().emissions, before.emissions);
  EXPECT_EQ(memory_now().device_bytes, before.device_bytes);
  saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_UNIFORM, 4, 64, 64);
  saccade_lattice* lattice = nullptr;
  ASSERT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(memory_now().lattices, before.lattices + 1);
  saccade_lattice_free(lattice);
  EXPECT_EQ(memory_now().lattices, before.lattices);
  settings.width_px = 0;
  EXPECT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_ERROR_USAGE);
  EXPECT_EQ(memory_now().lattices, before.lattices) << "one that failed is none";
}

#if defined(SACCADE_GL)
// A program that draws has a context of its own current on this thread: after each call it still is.
TEST(Process, CallersOpenGLContext_StaysCurrent) {
  if (saccade_backend_check("gl", 0) != SACCADE_OK) {
    saccade::testing::skip_or_fail("gl", saccade_last_error());
    return;
  }
  EXPECT_EQ(eglGetCurrentContext(), EGL_NO_CONTEXT);
  const auto run = [] {
    StreamHandle stream = open_stream(kUri, {{"backend", "gl"}, {"every", "frame"}});
    const EGLContext after_open = eglGetCurrentContext();
    EXPECT_EQ(take_next(stream).status, SACCADE_OK);
    EXPECT_EQ(eglGetCurrentContext(), after_open);
    auto level = sized<saccade_level>();
    EXPECT_EQ(saccade_stream_get_level(stream.get(), 0, 0, &level), SACCADE_OK);
    std::vector<std::uint8_t> texels(level.size_bytes);
    EXPECT_EQ(saccade_stream_read_level(stream.get(), 0, 0, texels.data(), texels.size()), SACCADE_OK);
    EXPECT_EQ(eglGetCurrentContext(), after_open);
    stream.reset();
    EXPECT_EQ(eglGetCurrentContext(), after_open);
    EXPECT_EQ(saccade_backend_check("gl", 0), SACCADE_OK);
    return after_open;
  };
  EXPECT_EQ(run(), EGL_NO_CONTEXT);
  {
    const gl::Context own = gl::Context::offscreen();
    const EGLContext before = eglGetCurrentContext();
    ASSERT_NE(before, EGL_NO_CONTEXT);
    EXPECT_EQ(run(), before);
    EXPECT_EQ(eglGetCurrentContext(), before);
  }
  eglBindAPI(EGL_OPENGL_ES_API);
  EXPECT_EQ(run(), EGL_NO_CONTEXT);
  EXPECT_EQ(eglQueryAPI(), static_cast<EGLenum>(EGL_OPENGL_ES_API));
}
#endif

long resident_kib() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return -1;
  if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = -1;
  std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST(Process, OpenedAndLeftUnfinished_LeavesNothing) {
  const auto round = [] {
    const StreamHandle stream = open_stream(kUri, kCpu);
    HostRoom room(geometry_of(stream));
    EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &room.target, nullptr), SACCADE_OK);
    const StreamHandle frames = make_stream(kCpu);
    auto format = sized<saccade_frame_format>();
    format.width_px = format.height_px = 64;
    EXPECT_EQ(saccade_stream_open_frames(frames.get(), &format), SACCADE_OK) << saccade_last_error();
  };
  for (int i = 0; i < 50; ++i) round();
  const long before = resident_kib();
  for (int i = 0; i < 200; ++i) round();
  const long grown = resident_kib() - before;
#if defined(__SANITIZE_ADDRESS__)  // keeps what is freed for a while, and finds leaks by itself
  constexpr long kMost_kib = 64 * 1024;
#else
  constexpr long kMost_kib = 4096;
#endif
  EXPECT_LT(grown, kMost_kib) << "KiB in 200 rounds";
}

TEST(Probe, ClosedSource_TellsWhatAnOpenOneDoes) {
  const StreamHandle stream = open_stream(kUri, kCpu);
  auto opened = sized<saccade_stream_info>(), probed = sized<saccade_stream_info>();
  ASSERT_EQ(saccade_stream_get_info(stream.get(), &opened), SACCADE_OK);
  const int width = opened.width_px;
  const double fps = opened.fps;
  ASSERT_EQ(saccade_stream_probe(stream.get(), kUri, &probed), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(probed.width_px, width);
  EXPECT_EQ(probed.fps, fps);
  EXPECT_STREQ(probed.uri, kUri);
  saccade_emission* none = nullptr;
  EXPECT_EQ(saccade_stream_next(stream.get(), -1, &none), SACCADE_ERROR_USAGE) << "what was open is closed";
  EXPECT_EQ(saccade_stream_probe(stream.get(), "no/such/file.mp4", &probed), SACCADE_ERROR_INPUT);
  EXPECT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK);
}

}  // namespace
}  // namespace saccade::test
