// A worker, seen from the process that runs it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/json/json_file.h"

namespace saccade {

inline constexpr std::chrono::seconds kLongestStart{120};  // until a worker says something

// How a process ended: one of the two.
struct ProcessEnd {
  std::optional<int> exit;
  std::optional<int> signal;
};

// Starts `saccade worker` with pipes at its stdin and stdout. It dies when the calling thread's process does, however
// that ends. All calls from the thread that made it. The destructor kills it, and reaps it unless even that takes long.
class WorkerProcess {
 public:
  explicit WorkerProcess(const std::string& log_level);  // throws Error of kOutput
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void send(const Json& line);  // never waits: what the pipe can't take goes with flush()
  void flush();
  bool wants_to_write() const { return !unsent_.empty(); }
  void close_input();                           // no more comes; it ends when all is done
  std::vector<Json> receive();                  // what has come; never waits
  bool closed() const { return read_fd_ < 0; }  // its stdout ended: it is dead, or about to be
  std::optional<ProcessEnd> reap();             // after closed(); none: it has not ended yet
  void terminate();  // SIGTERM, and SIGKILL five seconds later: call kill_if_due() now and then
  void kill_if_due();
  void kill_now();             // SIGKILL; of several, send it to all before the first one is destroyed
  bool survives_kill() const;  // it was killed long ago, and is still there
  bool terminating() const { return kill_at_.has_value(); }
  int read_fd() const { return read_fd_; }
  int write_fd() const { return write_fd_; }
  std::int64_t rss_bytes() const;  // 0: not known

 private:
  pid_t pid_ = -1;
  int read_fd_ = -1;
  int write_fd_ = -1;
  bool close_after_flush_ = false;
  std::string unsent_;
  std::string received_;
  std::optional<std::chrono::steady_clock::time_point> kill_at_;
};

}  // namespace saccade
