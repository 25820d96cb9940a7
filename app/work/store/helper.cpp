#include "app/work/store/helper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "app/files/whole_file.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

std::string python() {
  const char* given = std::getenv("SACCADE_PYTHON");
  return given != nullptr && *given != 0 ? given : "python3";
}

[[noreturn]] void fail(const std::string& why) {
  throw UnavailableError(
      fmt::format("{} -m pysaccade._store: {}; buckets need pip install 'pysaccade[buckets]' for this Python; "
                  "SACCADE_PYTHON names another one",
                  python(), why));
}

const HelperAnswer kEnded = {HelperFault::kEnded, 0, "the helper process for buckets has ended", {}};

HelperFault fault_named(const std::string& name) {
  if (name == "missing") return HelperFault::kMissing;
  if (name == "forbidden") return HelperFault::kForbidden;
  if (name == "exists") return HelperFault::kExists;
  return name == "unavailable" ? HelperFault::kUnavailable : HelperFault::kBroken;
}

HelperAnswer answer_of(const Json& line) {
  if (line.value("ok", false)) return {HelperFault::kNone, 0, {}, line};
  return {fault_named(line.value("fault", "")), line.value("errno", 0), without_secrets(line.value("line", "")), {}};
}

// Between fork and exec: only what is safe there. A signal of the terminal is this program's to handle.
[[noreturn]] void become_helper(pid_t parent, int in, int out, const char* program, const char* url) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  for (const int number : {SIGINT, SIGHUP}) signal(number, SIG_IGN);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  const char* const arguments[] = {program, "-m", "pysaccade._store", *url != 0 ? url : nullptr, nullptr};
  execvp(program, const_cast<char* const*>(arguments));
  _exit(127);
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, 0);
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string from_base64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3, 0);
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) throw Error(ErrorKind::kOutput, "the helper's answer is not base64");
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

Helper::Helper(const std::string& url) {
  start(url);
  std::future<Json> greeting = greeting_.get_future();
  thread_ = std::thread([this] { listen(); });
  const Json hello = greeting.get();
  if (hello.value("ready", false)) return;
  end();
  thread_.join();
  close(write_fd_);
  if (hello.contains("line")) throw UnavailableError(without_secrets(hello.value("line", "")));
  fail(fmt::format("ended with exit code {} before it was ready", hello.value("exit", 0)));
}

Helper::~Helper() {
  close(write_fd_);
  end();  // nothing that was asked for is waited for
  thread_.join();
}

// Once listen() has reaped the process its number may be another one's.
void Helper::end() {
  const std::lock_guard lock(mutex_);
  if (!reaped_) kill(pid_, SIGKILL);
}

void Helper::start(const std::string& url) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail(std::strerror(errno));
  const std::string program = python();
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become_helper(parent, in[0], out[1], program.c_str(), url.c_str());
  close(in[0]);
  close(out[1]);
  write_fd_ = in[1];
  read_fd_ = out[0];
  if (pid_ < 0) fail(std::strerror(errno));
}

std::future<HelperAnswer> Helper::send(Json request) {
  auto promise = std::make_shared<std::promise<HelperAnswer>>();
  send(std::move(request), [promise](HelperAnswer answer) { promise->set_value(std::move(answer)); });
  return promise->get_future();
}

void Helper::send(Json request, OnAnswer on_answer) {
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    request["id"] = next_;
    ended = ended_;
    if (!ended) waiting_[next_++] = std::move(on_answer);
  }
  if (ended) return on_answer(kEnded);
  const std::string line = json_text(request, -1) + "\n";
  const std::lock_guard lock(write_mutex_);
  static_cast<void>(write_all(write_fd_, line.data(), line.size()));  // where it died, listen() answers all
}

void Helper::hear(const Json& line) {
  OnAnswer on_answer;
  {
    const std::lock_guard lock(mutex_);
    if (!greeted_) {
      greeted_ = true;
      return greeting_.set_value(line);
    }
    const auto found = waiting_.find(line.value("id", std::int64_t{0}));
    if (found == waiting_.end()) return;
    on_answer = std::move(found->second);
    waiting_.erase(found);
  }
  on_answer(answer_of(line));
}

void Helper::listen() {
  std::string received;
  std::string piece(std::size_t{1} << 16, 0);
  for (;;) {
    const ssize_t got = read(read_fd_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    received.append(piece, 0, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = received.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const Json line = Json::parse(received.substr(begin, end - begin), nullptr, false);
      if (line.is_object()) hear(line);
    }
    received.erase(0, begin);
  }
  close(read_fd_);
  int status = 0;
  siginfo_t ignored;
  while (waitid(P_PID, static_cast<id_t>(pid_), &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  std::map<std::int64_t, OnAnswer> waiting;
  {
    const std::lock_guard lock(mutex_);
    waitpid(pid_, &status, 0);
    reaped_ = true;
    ended_ = true;
    if (!greeted_) greeting_.set_value({{"ready", false}, {"exit", WIFEXITED(status) ? WEXITSTATUS(status) : -1}});
    greeted_ = true;
    waiting.swap(waiting_);
  }
  for (auto& [id, on_answer] : waiting) on_answer(kEnded);
}

}  // namespace saccade
