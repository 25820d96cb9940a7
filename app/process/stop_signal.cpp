#include "app/process/stop_signal.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
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
constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

// What the handler may touch: one StopSignal at a time.
std::atomic<bool> g_requested{false};
std::atomic<int> g_pipe_write{-1};

void write_byte(int fd, char byte) {
  while (write(fd, &byte, 1) < 0 && errno == EINTR) {
  }
}

// A terminal that closes may send SIGHUP twice, and systemd sends it right after SIGTERM.
auto after_the_first(int number) { return number == SIGHUP ? SIG_IGN : SIG_DFL; }

// Every write to a terminal that has closed fails, and would end the process before its results are whole.
void leave_closed_terminals() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct termios ignored;
    if (tcgetattr(fd, &ignored) == 0 || errno != EIO) continue;
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, fd);
    close(nowhere);
  }
}

void on_signal(int signal_number) {
  const int saved = errno;
  if (signal_number == SIGHUP) leave_closed_terminals();
  g_requested.store(true);
  write_byte(g_pipe_write.load(), kStop);
  for (const int number : kSignals) {
    struct sigaction action = {};
    action.sa_handler = after_the_first(number);
    sigaction(number, &action, nullptr);
  }
  errno = saved;
}

}  // namespace

struct StopSignal::State {
  std::function<void()> wake;
  int pipe_read = -1;
  int pipe_write = -1;
  std::array<struct sigaction, kSignals.size()> old = {};
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
  for (const int number : kSignals) sigaddset(&action.sa_mask, number);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &action, &state_->old[i]);
    // nohup(1): it is to outlive its terminal.
    const bool outlives = kSignals[i] == SIGHUP && state_->old[i].sa_handler == SIG_IGN;
    if (outlives) sigaction(SIGHUP, &state_->old[i], nullptr);
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &state_->old[i], nullptr);
  write_byte(state_->pipe_write, kQuit);
  state_->thread.join();
  close(state_->pipe_read);
  close(state_->pipe_write);
  delete state_;
}

bool StopSignal::requested() const { return g_requested.load(); }

}  // namespace saccade
