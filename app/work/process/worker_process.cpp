#include "app/work/process/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kLongest = std::chrono::seconds(60);

[[noreturn]] void fail(const char* call) {
  throw Error(ErrorKind::kOutput, fmt::format("a worker could not be started: {}: {}", call, std::strerror(errno)));
}

// Between fork and exec: only what is safe there.
[[noreturn]] void become_worker(pid_t parent, int in, int out, const char* log_level) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died meanwhile
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  const char* const arguments[] = {"saccade", "worker", "--log-level", log_level, nullptr};
  execv("/proc/self/exe", const_cast<char* const*>(arguments));
  _exit(127);
}

}  // namespace

WorkerProcess::WorkerProcess(const std::string& log_level) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) fail("pipe");
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    fail("pipe");
  }
  const pid_t parent = getpid();
  const char* level = log_level.c_str();
  pid_ = fork();
  if (pid_ == 0) become_worker(parent, in[0], out[1], level);
  close(in[0]);
  close(out[1]);
  write_fd_ = in[1];
  read_fd_ = out[0];
  if (pid_ < 0) fail("fork");
  fcntl(write_fd_, F_SETFL, O_NONBLOCK);
  fcntl(read_fd_, F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    kill_now();
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (waitpid(pid_, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  if (read_fd_ >= 0) close(read_fd_);
  if (write_fd_ >= 0) close(write_fd_);
}

void WorkerProcess::send(const Json& line) {
  unsent_ += json_text(line, -1) + "\n";
  flush();
}

void WorkerProcess::flush() {
  while (!unsent_.empty() && write_fd_ >= 0) {
    const ssize_t done = write(write_fd_, unsent_.data(), unsent_.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) return;
    if (done < 0) unsent_.clear();  // it died: its stdout says so
    if (done > 0) unsent_.erase(0, static_cast<std::size_t>(done));
  }
  if (close_after_flush_ && write_fd_ >= 0) {
    close(write_fd_);
    write_fd_ = -1;
  }
}

void WorkerProcess::close_input() {
  close_after_flush_ = true;
  flush();
}

std::vector<Json> WorkerProcess::receive() {
  std::array<char, 65536> piece;
  while (read_fd_ >= 0) {
    const ssize_t got = read(read_fd_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      close(read_fd_);
      read_fd_ = -1;
      if (!terminating()) kill_at_ = std::chrono::steady_clock::now() + kPatience;  // it has only to end
      break;
    }
    received_.append(piece.data(), static_cast<std::size_t>(got));
  }
  std::vector<Json> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = received_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    Json line = Json::parse(received_.substr(begin, end - begin), nullptr, false);
    if (line.is_object() && line.contains("event")) lines.push_back(std::move(line));
  }
  received_.erase(0, begin);
  return lines;
}

std::optional<ProcessEnd> WorkerProcess::reap() {
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(pid_, &status, WNOHANG)) < 0 && errno == EINTR) continue;
  if (ended == 0) return std::nullopt;
  pid_ = -1;
  if (WIFSIGNALED(status)) return ProcessEnd{std::nullopt, WTERMSIG(status)};
  return ProcessEnd{WEXITSTATUS(status), std::nullopt};
}

void WorkerProcess::terminate() {
  if (terminating() || pid_ <= 0) return;
  kill_at_ = std::chrono::steady_clock::now() + kPatience;
  kill(pid_, SIGTERM);
}

void WorkerProcess::kill_if_due() {
  if (kill_at_ && std::chrono::steady_clock::now() >= *kill_at_) kill_now();
}

void WorkerProcess::kill_now() {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

bool WorkerProcess::survives_kill() const {
  return kill_at_ && std::chrono::steady_clock::now() > *kill_at_ + kLongest;
}

std::int64_t WorkerProcess::rss_bytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", pid_));
  std::int64_t pages = 0, resident = 0;
  return file >> pages >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace saccade
