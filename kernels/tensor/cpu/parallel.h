// Work on several threads of the host, begun and ended within a call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <type_traits>
#include <vector>

namespace saccade::tensor::cpu {

// Note [Threads of the process]
// torch works on the threads of an OpenMP runtime, which after each work wait actively for the next, for milliseconds.
// Threads of our own would have to wait for a core until those sleep: a small call would take ten times as long. So the
// work is done by that runtime's threads, where the process has one for all to use (torch loads it so). It is found by
// name and never loaded. Not in a forked process: there the runtime waits for ever for threads that are gone.

struct Team {
  // has work(data) called by the caller and the other threads at once; `threads` 0: by all that there are
  void (*call)(void (*work)(void*), void* data, unsigned threads, unsigned flags) = nullptr;  // null: there is no team
  int (*most_threads)() = nullptr;
};
Team process_team();

// call(part) for parts 0 to parts - 1, by those threads.
template <class Call>
void run_on(const Team& team, int parts, const Call& call) {
  struct Parts {
    const Call& call;
    const int count;
    std::atomic<int> next{0};
  } all{call, parts};
  const auto work = [](void* data) {
    auto& mine = *static_cast<Parts*>(data);
    for (int part = mine.next++; part < mine.count; part = mine.next++) mine.call(part);
  };
  // all, as torch asks for, where they suffice: a smaller team ends the others
  team.call(work, &all, team.most_threads() >= parts ? 0 : static_cast<unsigned>(parts), 0);
}

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
  const Team team = std::is_same_v<Thread, std::jthread> ? process_team() : Team{};
  if (team.call != nullptr) {
    run_on(team, parts, run);
  } else {
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
