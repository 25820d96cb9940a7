#include "pipeline/run/work/streams.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace saccade {
namespace {

using Step = StreamTask::Step;

// What the tasks of a test did, all together.
struct Record {
  std::mutex mutex;
  std::vector<int> closed;
  std::vector<std::string> errors;
  std::set<std::thread::id> steppers;
  std::atomic<int> alive{0}, most_alive{0}, opening{0}, most_opening{0};
};

void raise_to(std::atomic<int>& most, int value) {
  for (int seen = most; seen < value && !most.compare_exchange_weak(seen, value);) continue;
}

// Frames come from a thread of its own; `fails`: the call that throws.
class Clip final : public StreamTask {
 public:
  Clip(Record& record, int number, int frames, std::string fails = "")
      : record_(record), number_(number), frames_(frames), fails_(std::move(fails)) {
    raise_to(record_.most_alive, ++record_.alive);
  }
  ~Clip() override { --record_.alive; }

  void open(Wakeup& wakeup) override {
    raise_to(record_.most_opening, ++record_.opening);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --record_.opening;
    if (fails_ == "open") throw std::runtime_error("open");
    decoder_ = std::jthread([this, &wakeup] {
      for (int i = 0; i <= frames_; ++i) {
        ++ready_;
        wakeup.notify();
        std::this_thread::yield();
      }
    });
  }
  Step step() override {
    {
      const std::lock_guard lock(record_.mutex);
      record_.steppers.insert(std::this_thread::get_id());
    }
    if (fails_ == "step" && stepped_ > 0) throw std::runtime_error("step");
    if (stepped_ == ready_) return Step::kNothing;
    return stepped_++ == frames_ ? Step::kEnded : Step::kWorked;
  }
  void close() override {
    const std::lock_guard lock(record_.mutex);
    record_.closed.push_back(number_);
    if (fails_.empty()) {
      EXPECT_EQ(stepped_, frames_ + 1);
    }
  }
  void fail(std::exception_ptr error) override {
    const std::lock_guard lock(record_.mutex);
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
      record_.errors.emplace_back(thrown.what());
    }
  }

 private:
  Record& record_;
  const int number_, frames_;
  const std::string fails_;
  std::atomic<int> ready_{0};
  int stepped_ = 0;
  std::jthread decoder_;
};

struct Mix {
  StreamsConfig config;
  int clips;
};

class StreamsTest : public testing::TestWithParam<Mix> {};

TEST_P(StreamsTest, ManyTasks_EachIsClosedOnceWithinTheBounds) {
  const auto& [config, clips] = GetParam();
  Record record;
  int next = 0;
  Streams(config).run([&]() -> std::unique_ptr<StreamTask> {
    if (next == clips) return nullptr;
    const int number = next++;
    return std::make_unique<Clip>(record, number, number % 7 * 10);
  });
  const std::set<int> closed(record.closed.begin(), record.closed.end());
  EXPECT_EQ(static_cast<int>(record.closed.size()), clips);
  EXPECT_EQ(static_cast<int>(closed.size()), clips);
  EXPECT_EQ(record.alive, 0);
  EXPECT_LE(record.most_alive, config.slots);
  EXPECT_LE(record.most_opening, config.openers);
  EXPECT_LE(static_cast<int>(record.steppers.size()), config.launchers);
}

INSTANTIATE_TEST_SUITE_P(Mixes, StreamsTest,
                         testing::Values(Mix{{.slots = 1}, 5}, Mix{{.slots = 16, .launchers = 1}, 100},
                                         Mix{{.slots = 3, .launchers = 3, .closers = 0}, 60},
                                         Mix{{.slots = 8, .openers = 1, .launchers = 2, .closers = 1}, 60},
                                         Mix{{.slots = 4}, 0}, Mix{{.slots = 16}, 1}));

TEST(Streams, OneFails_TheOthersGoOn) {
  Record record;
  const std::vector<std::string> fails = {"", "open", "", "step", "", "open", "step", ""};
  std::size_t next = 0;
  Streams({.slots = 2, .launchers = 1}).run([&]() -> std::unique_ptr<StreamTask> {
    if (next == fails.size()) return nullptr;
    const std::size_t at = next++;
    return std::make_unique<Clip>(record, static_cast<int>(at), 20, fails[at]);
  });
  EXPECT_EQ(record.closed.size(), fails.size());
  EXPECT_EQ(std::multiset<std::string>(record.errors.begin(), record.errors.end()),
            (std::multiset<std::string>{"open", "open", "step", "step"}));
}

// A source that waits must not keep the launcher from the others.
TEST(Streams, OneWaits_TheOthersGoOn) {
  Record record;
  std::atomic<bool> released{false};
  class Waiting final : public StreamTask {
   public:
    explicit Waiting(std::atomic<bool>& released) : released_(released) {}
    void open(Wakeup& wakeup) override {
      thread_ = std::jthread([this, &wakeup] {
        released_.wait(false);
        wakeup.notify();
      });
    }
    Step step() override { return released_ ? Step::kEnded : Step::kNothing; }
    void close() override {}
    void fail(std::exception_ptr) override {}

   private:
    std::atomic<bool>& released_;
    std::jthread thread_;
  };
  int next = 0;
  Streams({.slots = 2, .launchers = 1}).run([&]() -> std::unique_ptr<StreamTask> {
    if (next == 0) return ++next, std::make_unique<Waiting>(released);
    if (next <= 10) return std::make_unique<Clip>(record, next++, 5);
    released = true;
    released.notify_all();
    return nullptr;
  });
  EXPECT_EQ(record.closed.size(), 10U);
}

// Read `readings` times, each time from an opener's thread; `fails`: the reading whose opening throws.
class Again final : public StreamTask {
 public:
  Again(Record& record, int number, int readings, int fails = 0)
      : record_(record), number_(number), readings_(readings), fails_(fails) {}
  void open(Wakeup& wakeup) override {
    EXPECT_TRUE(wakeup_ == nullptr || wakeup_ == &wakeup);
    wakeup_ = &wakeup;
    ++opened_;
    {
      const std::lock_guard lock(record_.mutex);
      openers_.insert(std::this_thread::get_id());
    }
    if (opened_ == fails_) throw std::runtime_error("open");
    frames_ = 3;
  }
  Step step() override {
    EXPECT_EQ(openers_.count(std::this_thread::get_id()), 0U);
    if (frames_-- > 0) return Step::kWorked;
    return opened_ < readings_ ? Step::kAgain : Step::kEnded;
  }
  void close() override {
    EXPECT_EQ(opened_, fails_ > 0 ? fails_ : readings_);
    const std::lock_guard lock(record_.mutex);
    record_.closed.push_back(number_);
  }
  void fail(std::exception_ptr) override {
    const std::lock_guard lock(record_.mutex);
    record_.errors.emplace_back("open");
  }

 private:
  Record& record_;
  const int number_, readings_, fails_;
  int opened_ = 0, frames_ = 0;
  Wakeup* wakeup_ = nullptr;
  std::set<std::thread::id> openers_;
};

TEST_P(StreamsTest, TasksThatAreReadAgain_AreOpenedByOpenersAndClosedOnce) {
  const auto& [config, clips] = GetParam();
  Record record;
  int next = 0, failing = 0;
  Streams(config).run([&]() -> std::unique_ptr<StreamTask> {
    if (next == clips) return nullptr;
    const int number = next++;
    failing += number % 5 == 4 ? 1 : 0;
    return std::make_unique<Again>(record, number, 1 + number % 3, number % 5 == 4 ? 1 + number % 3 : 0);
  });
  EXPECT_EQ(static_cast<int>(record.closed.size()), clips);
  EXPECT_EQ(std::set<int>(record.closed.begin(), record.closed.end()).size(), record.closed.size());
  EXPECT_EQ(static_cast<int>(record.errors.size()), failing);
}

// As those of a worker do, which reads the next item's line from a pipe.
TEST(Streams, AllOpenersWaitForTheNextOne_WhatIsReadAgainIsOpened) {
  Record record;
  int next = 0;
  Streams({.slots = 4, .openers = 3}).run([&]() -> std::unique_ptr<StreamTask> {
    if (next++ == 0) return std::make_unique<Again>(record, 0, 3);
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(record.mutex);
      if (!record.closed.empty()) return nullptr;
    }
  });
  EXPECT_EQ(record.closed, std::vector<int>{0});
}

}  // namespace
}  // namespace saccade
