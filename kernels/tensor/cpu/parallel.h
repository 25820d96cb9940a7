// Work on several threads of the host, begun and ended within a call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace saccade::tensor::cpu {

// work(first, last) over parts of 0..count, of at least `least` each, on up to `threads` threads, the caller's among
// them. Parts do not depend on each other, and results must not depend on how they are cut. An exception of a part ends
// the process.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t least, int threads, const Work& work) {
  const std::int64_t most = std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, least));
  const auto parts = static_cast<int>(std::min<std::int64_t>(most, std::max(1, threads)));
  const auto edge = [&](int part) { return count * part / parts; };
  std::vector<std::jthread> others;
  others.reserve(static_cast<std::size_t>(parts - 1));
  for (int part = 1; part < parts; ++part) {
    others.emplace_back([&work, first = edge(part), last = edge(part + 1)] { work(first, last); });
  }
  if (count > 0) work(std::int64_t{0}, edge(1));
}

}  // namespace saccade::tensor::cpu
