// What a look of the allocator costs with the texture on a device, beside its update: errors there and back, the choice
// on the host, and holding what was chosen. Counters are medians over all looks.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench/cuda_clip.h"
#include "gpu/cuda/stream.h"
#include "kernels/cuda/held_picture.h"
#include "kernels/cuda/texture.h"
#include "kernels/cuda/texture_queue.h"
#include "pipeline/gaze/allocate/choice.h"

namespace saccade::bench {
namespace {

constexpr int kTokens = 273;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class HostClock {
 public:
  // Since the last call.
  double lap_us() {
    const auto now = std::chrono::steady_clock::now();
    const double us = std::chrono::duration<double, std::micro>(now - last_).count();
    last_ = now;
    return us;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Args: width, height, percent.
void BM_CudaLook(benchmark::State& state) {
  if (!have_device(state)) return;
  const Clip clip = clip_for(state, MemorySpace::kCuda);
  CudaTexture texture(clip.layout());
  const CudaTextureQueue queue(texture);
  const auto made = texture.make_held_picture({});
  auto& held = dynamic_cast<cuda::CudaHeldPicture&>(*made);
  SquareChoice choice(clip.layout().tiles, held.levels());
  CudaEvent begin(0, CudaEvent::Kind::kTiming), end(0, CudaEvent::Kind::kTiming);
  std::vector<double> device, measure, choose, hold;
  std::size_t sent = 0;
  const auto look = [&](int i) {
    texture.update(clip.frame(i));
    held.note(texture.damage());
    queue.wait();
    HostClock clock;
    begin.record(queue.stream());
    held.queue();
    end.record(queue.stream());
    const TileErrors errors = held.measure();
    measure.push_back(clock.lap_us());
    choice.rate(errors);
    const auto squares = choice.at_most(kTokens);
    choose.push_back(clock.lap_us());
    held.hold(squares);
    queue.wait();
    hold.push_back(clock.lap_us());
    device.push_back(static_cast<double>(end.since_ms(begin)) * 1e3);
    sent += squares.size();
    state.SetIterationTime((measure.back() + choose.back() + hold.back()) * 1e-6);
  };
  int i = 0;
  for (auto _ : state) look(i++);
  state.counters["device_us"] = median(device);
  state.counters["measure_us"] = median(measure);
  state.counters["choose_us"] = median(choose);
  state.counters["hold_us"] = median(hold);
  state.counters["tokens"] = static_cast<double>(sent) / static_cast<double>(measure.size());
}
BENCHMARK(BM_CudaLook)->Apply(sizes);

}  // namespace
}  // namespace saccade::bench
