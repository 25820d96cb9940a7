// What a look of the allocator costs on one core: errors of what changed, weights, the choice, and holding it.
// Arguments: height in pixels, and the share of the tiles that change between looks in percent.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

#include "bench/tile_picture.h"
#include "kernels/cpu/differ.h"
#include "kernels/cpu/held_picture.h"
#include "kernels/cpu/pyramid.h"
#include "pipeline/gaze/allocate/choice.h"
#include "pipeline/gaze/weights/fatigue.h"

namespace saccade {
namespace {

constexpr int kTokens = 273;
constexpr std::int64_t kLookNs = 250'000'000;

// Noise of some brightness and contrast.
const auto kNoise = [](std::mt19937& random) {
  const auto base = static_cast<int>(random() % 200U);
  const auto contrast = 1U + static_cast<unsigned>(random() % 56U);
  return [base, contrast, &random](int, int) { return base + static_cast<int>(random() % contrast); };
};

// A picture that changes, and a receiver that is sent squares of it.
class Scene {
 public:
  Scene(int height, int percent)
      : picture_(height * 16 / 9, height, kNoise),
        percent_(percent),
        pyramid_(make_pyramid_layout(height * 16 / 9, height, TextureFormat::kYuv8)),
        differ_(pyramid_, {}),
        held_(pyramid_, {}),
        fatigue_(pyramid_.layout().tiles),
        choice_(pyramid_.layout().tiles, held_.levels()),
        weights_(static_cast<std::size_t>(pyramid_.layout().tiles.count())) {
    update();
  }

  void change() {
    picture_.change(percent_);
    update();
    now_ns_ += kLookNs;
  }
  void look() {
    const TileErrors errors = held_.measure();
    std::fill(weights_.begin(), weights_.end(), kFullWeight);
    fatigue_.weigh(now_ns_, weights_);
    choice_.rate(errors, weights_);
    const auto squares = choice_.at_most(kTokens);
    held_.hold(squares);
    fatigue_.note(now_ns_, squares);
    sent_ += static_cast<std::int64_t>(squares.size());
  }
  std::int64_t sent() const { return sent_; }

 private:
  void update() {
    const FrameView frame = picture_.view();
    const Damage& damage = differ_.diff(frame);
    pyramid_.upload(frame, damage);
    pyramid_.refresh_mips(damage);
    held_.note(damage);
  }

  bench::TilePicture<decltype(kNoise)> picture_;
  int percent_;
  CpuPyramid pyramid_;
  CpuTileDiffer differ_;
  CpuHeldPicture held_;
  Fatigue fatigue_;
  SquareChoice choice_;
  std::vector<Weight> weights_;
  std::int64_t now_ns_ = 0, sent_ = 0;
};

// Of this thread, in seconds: what else runs on the machine doesn't count.
double thread_time_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void allocate_look(benchmark::State& state) {
  Scene scene(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  for (auto _ : state) {
    scene.change();
    const double begin = thread_time_s();
    scene.look();
    state.SetIterationTime(thread_time_s() - begin);
  }
  state.counters["tokens"] = benchmark::Counter(static_cast<double>(scene.sent()), benchmark::Counter::kAvgIterations);
}
BENCHMARK(allocate_look)
    ->ArgsProduct({{720, 1080, 2160}, {0, 1, 10, 100}})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(40);

}  // namespace
}  // namespace saccade
