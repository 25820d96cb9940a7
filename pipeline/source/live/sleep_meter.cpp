#include "pipeline/source/live/sleep_meter.h"

#include <sys/resource.h>

#include <algorithm>

#include "pipeline/clock.h"

namespace saccade {
namespace {

constexpr std::int64_t kTooLong_ns = 20'000'000;

rusage used_by_this_thread() {
  rusage used = {};
  getrusage(RUSAGE_THREAD, &used);
  return used;
}

std::int64_t to_ns(const timeval& time) { return time.tv_sec * 1'000'000'000 + time.tv_usec * 1'000; }

std::int64_t worked_ns(const rusage& used) { return to_ns(used.ru_utime) + to_ns(used.ru_stime); }

}  // namespace

SleepMeter::SleepMeter() : begin_ns_(steady_now_ns()) {
  const rusage used = used_by_this_thread();
  worked_ns_ = worked_ns(used);
  sleeps_ = used.ru_nvcsw;
}

std::int64_t SleepMeter::slept_ns() const {
  const rusage used = used_by_this_thread();
  const std::int64_t idle_ns = steady_now_ns() - begin_ns_ - (worked_ns(used) - worked_ns_);
  return used.ru_nvcsw > sleeps_ || idle_ns > kTooLong_ns ? std::max<std::int64_t>(idle_ns, 0) : 0;
}

}  // namespace saccade
