// Many streams in one process: few are opened at a time, a fixed number runs, and few threads take what is ready
// through the pipelines.
//
//   next() --> openers --> slots: each decodes on its own thread --> launchers: step() --> closers: close()
//                            ^------------- openers of what is read again <-------'
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "pipeline/run/work/wakeup.h"

namespace saccade {

// The life of one stream. Its calls come one after the other, each on the thread that is named. What a call throws is
// given to fail(), and then close() is next.
class StreamTask {
 public:
  enum class Step : std::uint8_t {
    kWorked,
    kNothing,
    kAgain,  // open() is next, once more
    kEnded,  // close() is next
  };

  virtual ~StreamTask() = default;
  // An opener's thread: opens the source and starts decoding. `wakeup` is notified when step() may have work again; it
  // outlives the task, and is the same each time.
  virtual void open(Wakeup& wakeup) = 0;
  virtual Step step() = 0;   // a launcher's thread: a frame's work; waits for no source and no disk
  virtual void close() = 0;  // a closer's thread: writes what is left, and reports. Throws nothing
  virtual void fail(std::exception_ptr error) = 0;
};

struct StreamsConfig {
  int slots = 1;      // streams that run, or are on their way: bounds the memory
  int openers = 3;    // at a time, and one of what is read again: FFmpeg opens codecs under one lock
  int launchers = 1;  // threads that step; as many as slots where pipelines work on the CPU
  int closers = 2;    // 0: a launcher closes what it stepped, as pipelines want that belong to a thread (OpenGL)
};

// Runs tasks until next() has none. The destructor is not to come before run() has returned.
class Streams {
 public:
  explicit Streams(const StreamsConfig& config);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // next: called by one opener at a time, whenever a slot is free; may wait. Null: there are no more. Returns when all
  // tasks are closed. Throws std::system_error, before any call of next, where the system gives no threads.
  void run(std::function<std::unique_ptr<StreamTask>()> next);

 private:
  struct Launcher;
  void open_all(const std::function<std::unique_ptr<StreamTask>()>& next);
  void open_again();
  void launch(Launcher& launcher);
  void close_all();
  void close(std::unique_ptr<StreamTask> task, Launcher& launcher);
  void retire(std::unique_ptr<StreamTask> task, Launcher& launcher);
  Launcher& claim_slot();
  void free_slot(Launcher& launcher);

  const StreamsConfig config_;
  std::mutex next_mutex_;  // of next()
  bool no_more_ = false;   // guarded by next_mutex_

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  int free_slots_ = 0;
  bool all_launched_ = false;
  struct Moving {
    std::unique_ptr<StreamTask> task;
    Launcher* launcher;
  };
  void hand_over(std::deque<Moving>& to, std::unique_ptr<StreamTask> task, Launcher& launcher);
  std::optional<Moving> take(std::deque<Moving>& from);
  std::deque<Moving> again_;
  std::deque<Moving> closing_;
  std::vector<std::unique_ptr<Launcher>> launchers_;
};

}  // namespace saccade
