// Work on several threads of the host, begun and ended within a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace saccade::tensor::cpu {

// work(first, last) over parts of 0..count, of at least `least` each, on up to `threads` threads, the caller's among
// them. Parts do not depend on each other, and results must not depend on how they are cut. An exception of a part is
// the caller's, once all parts have ended: that of the first part which has one. The caller does the part of a thread
// that can't be started.
template <class Thread = std::jthread, class Work>
void parallel_for(std::int64_t count, std::int64_t least, int threads, const Work& work) {
  const std::int64_t most = std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, least));
  const auto parts = static_cast<int>(std::min<std::int64_t>(most, std::max(1, threads)));
  if (parts == 1) {
    if (count > 0) work(std::int64_t{0}, count);
    return;
  }
  std::vector<std::exception_ptr> faults(static_cast<std::size_t>(parts));
  const auto run = [&](int part) noexcept {
    try {
      work(count * part / parts, count * (part + 1) / parts);
    } catch (...) {
      faults[static_cast<std::size_t>(part)] = std::current_exception();
    }
  };
  {
    std::vector<Thread> others;  // joined at the end of the block
    others.reserve(static_cast<std::size_t>(parts - 1));
    for (int part = 1; part < parts; ++part) {
      try {
        others.emplace_back([&run, part] { run(part); });
      } catch (const std::exception&) {  // no more threads, or no memory for one
        run(part);
      }
    }
    run(0);
  }
  for (const std::exception_ptr& fault : faults) {
    if (fault) std::rethrow_exception(fault);
  }
}

}  // namespace saccade::tensor::cpu
