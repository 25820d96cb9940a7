#include "app/stop_signal.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr char kStop = 's';
constexpr char kQuit = 'q';

// What the handler may touch: one StopSignal at a time.
std::atomic<bool> g_requested{false};
std::atomic<int> g_pipe_write{-1};

void write_byte(int fd, char byte) {
  while (write(fd, &byte, 1) < 0 && errno == EINTR) {
  }
}

void on_signal(int) {
  const int saved = errno;
  g_requested.store(true);
  write_byte(g_pipe_write.load(), kStop);
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGINT, &by_default, nullptr);  // a second signal ends the process
  sigaction(SIGTERM, &by_default, nullptr);
  errno = saved;
}

}  // namespace

struct StopSignal::State {
  std::function<void()> wake;
  int pipe_read = -1;
  int pipe_write = -1;
  struct sigaction old_int = {};
  struct sigaction old_term = {};
  std::thread thread;

  void run() {
    char byte = 0;
    for (;;) {
      const ssize_t got = read(pipe_read, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got != 1 || byte == kQuit) return;
      wake();
    }
  }
};

StopSignal::StopSignal(std::function<void()> wake) : state_(new State) {
  state_->wake = std::move(wake);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    const std::string reason = std::strerror(errno);
    delete state_;
    throw Error(ErrorKind::kOutput, "pipe for signals: " + reason);
  }
  state_->pipe_read = ends[0];
  state_->pipe_write = ends[1];
  g_requested.store(false);
  g_pipe_write.store(ends[1]);
  state_->thread = std::thread([state = state_] { state->run(); });
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(SIGINT, &action, &state_->old_int);
  sigaction(SIGTERM, &action, &state_->old_term);
}

StopSignal::~StopSignal() {
  sigaction(SIGINT, &state_->old_int, nullptr);
  sigaction(SIGTERM, &state_->old_term, nullptr);
  write_byte(state_->pipe_write, kQuit);
  state_->thread.join();
  close(state_->pipe_read);
  close(state_->pipe_write);
  delete state_;
}

bool StopSignal::requested() const { return g_requested.load(); }

}  // namespace saccade
