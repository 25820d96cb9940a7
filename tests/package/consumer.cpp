// libsaccade from C++17: owners, exceptions, two streams at once, an interrupt from another thread.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <saccade/saccade.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (false)

// The error that a call throws.
template <typename Call>
saccade::Error error_of(Call&& call) {
  try {
    call();
  } catch (const saccade::Error& error) {
    return error;
  }
  CHECK(!"an error was expected");
  std::abort();
}

saccade::Options cpu_options() {
  saccade::Options options;
  options.set("backend", "cpu");
  return options;
}

// All that a stream emits, one after the other. Emissions outlive it.
std::vector<saccade::Emission> run(const std::string& uri, const saccade::Options& options) {
  std::vector<saccade::Emission> emissions;
  saccade::Stream stream(uri, options);
  while (auto emission = stream.next()) emissions.push_back(std::move(*emission));
  return emissions;
}

template <typename Span>
bool equal(const Span& a, const Span& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool same(const saccade::Emission& a, const saccade::Emission& b) {
  return a.frame() == b.frame() && a.pts_ns() == b.pts_ns() && equal(a.patches(), b.patches()) &&
         equal(a.geometry(), b.geometry()) && equal(a.changed(), b.changed());
}

void check_two_at_once() {
  const std::string uris[] = {"test://pan?size=320x240&frames=60", "test://noise?size=200x100&frames=60"};
  auto options = cpu_options();
  options.set("rate", "10");
  std::vector<saccade::Emission> results[4];
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { results[i] = run(uris[i % 2], options); });
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 2; ++i) {
    CHECK(results[i].size() >= 15 && results[i].size() == results[i + 2].size());
    for (std::size_t n = 0; n < results[i].size(); ++n) CHECK(same(results[i][n], results[i + 2][n]));
  }
}

// A static picture at one resolution: f32 samples are those bytes over 255, and a patch seen again is unchanged.
void check_values() {
  auto options = cpu_options();
  options.set("every", "frame").set("fixation", "center").set("lattice", "grid").set("patches", "30");
  const auto bytes = run("test://static?size=128x96&frames=3", options);
  CHECK(options.set("dtype", "f32").get("dtype") == "f32");
  const auto values = run("test://static?size=128x96&frames=3", options);
  CHECK(bytes.size() == 3 && values.size() == 3 && values[0].view().dtype == SACCADE_F32);
  const auto samples = bytes[0].patches();
  const auto* exact = static_cast<const float*>(values[0].view().patches);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float error = exact[i] * 255 - static_cast<float>(samples[i]);
    CHECK(error <= 0.501f && error >= -0.501f);
  }
  const auto all = bytes[0].changed(), none = bytes[2].changed();
  CHECK(all.size() == 30 && std::count(all.begin(), all.end(), 1) == 30);
  CHECK(none.size() == 30 && std::count(none.begin(), none.end(), 0) == 30);
}

// Without end, and after its first emission none is due for hours of video.
void check_interrupt() {
  auto options = cpu_options();
  options.set("rate", "0.001").set("loop", "true");
  saccade::Stream stream("test://box?size=128x128", options);
  CHECK(stream.next().has_value());
  std::optional<saccade::Emission> none;
  CHECK(stream.next(0, none) == SACCADE_LATER && !none);
  CHECK(stream.next(20, none) == SACCADE_LATER && !none);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stream.interrupt();
  });
  CHECK(error_of([&] { stream.next(); }).status() == SACCADE_ERROR_INTERRUPTED);
  other.join();
  CHECK(error_of([&] { stream.next(); }).status() == SACCADE_ERROR_INTERRUPTED);
  CHECK(error_of([&] { stream.open("test://box"); }).status() == SACCADE_ERROR_INTERRUPTED);
}

void check_errors() {
  auto options = cpu_options();
  const auto wrong = error_of([&] { options.set("tokns", "3"); });
  CHECK(wrong.status() == SACCADE_ERROR_USAGE && std::string(wrong.what()).find("tokens") != std::string::npos);
  saccade::Stream stream(options);
  const auto unopened = error_of([&] { stream.next(); });
  CHECK(unopened.status() == SACCADE_ERROR_USAGE);
  const auto missing = error_of([&] { stream.open("no/such/file.mp4"); });
  CHECK(missing.status() == SACCADE_ERROR_INPUT && std::string(missing.what()).find("no/such") != std::string::npos);
  stream.open("test://static?size=64x64&frames=1");
  CHECK(stream.info().width_px == 64 && stream.geometry().levels == 7);
  CHECK(error_of([&] { stream.read_level(0, 6); }).status() == SACCADE_ERROR_USAGE);  // no frame was taken yet
  CHECK(stream.next().has_value() && stream.read_level(0, 6).size() == 1);
  CHECK(!stream.next() && stream.end().ended == 1);
}

void check_log() {
  std::vector<std::string> lines;
  auto options = cpu_options();
  options.set_log(SACCADE_LOG_DEBUG, [&](saccade_log_level, std::string_view line) { lines.emplace_back(line); });
  run("test://static?size=64x64&frames=2", options);
  for (const auto& line : lines) CHECK(!line.empty() && line.find('\n') == std::string::npos);
}

void check_tensors() {
  std::vector<double> image(16);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<double>(i);  // 4 x 4: 4 y + x
  saccade::Pyramid<double> pyramid(image.data(), 1, 1, 4, 4, 3);
  CHECK(pyramid.levels() == 3);
  const auto* half = static_cast<const double*>(pyramid.level(1).data);
  CHECK(half[0] == 2.5 && half[1] == 4.5 && half[2] == 10.5 && half[3] == 12.5);
  CHECK(*static_cast<const double*>(pyramid.level(2).data) == 7.5);

  saccade::Patches patches;
  patches.centers = {0.625f, 0.375f, 0.5f, 0.5f, 0.5f, 0.5f};  // the texel (2, 1); the middle, at level 1 and between
  patches.lod = {0, 1, 0.5f};
  patches.side = 1;
  const std::vector<double> samples = pyramid.sample(patches);
  CHECK(samples.size() == 3 && samples[0] == 6 && samples[1] == 7.5 && samples[2] == 7.5);
  const auto gradient = pyramid.sample_backward(patches, {8, 16, 0});
  CHECK(gradient.image[6] == 8 + 1);  // itself, and a 16th part of the second sample
  CHECK(gradient.image[0] == 1 && gradient.image[15] == 1);
  CHECK(gradient.centers[0] == 8 * 1 * 4 && gradient.centers[1] == 8 * 4 * 4);  // slope times size
  image[0] = 16;
  pyramid.update();
  CHECK(half[0] == 6.5);
  try {
    pyramid.sample_backward(patches, {1});
    CHECK(!"an error was expected");
  } catch (const std::invalid_argument&) {
  }

  const saccade::Lattice lattice(saccade::Lattice::settings(640, 480, 100));
  const saccade::Patches plan = lattice.plan(0.3f, 0.4f);
  CHECK(plan.side == 16 && plan.lod.size() == static_cast<std::size_t>(lattice.info().patch_count));
  CHECK(plan.centers.size() == 2 * plan.lod.size() && plan.lod.size() <= 100);
  CHECK(error_of([] { saccade::Lattice(saccade::Lattice::settings(640, 480, 1)); }).status() == SACCADE_ERROR_USAGE);
}

}  // namespace

int main() {
  check_values();
  check_tensors();
  check_two_at_once();
  check_interrupt();
  check_errors();
  check_log();
  std::puts("consumer.cpp: ok");
}
