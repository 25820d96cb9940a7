// The helper process of Python's, which reads and writes buckets. docs/STORE.md has its protocol.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "app/json/json_file.h"

namespace saccade {

enum class HelperFault : std::uint8_t { kNone, kMissing, kForbidden, kExists, kBroken, kUnavailable, kEnded };

struct HelperAnswer {
  HelperFault fault = HelperFault::kNone;
  int code = 0;      // an errno; 0: not known
  std::string line;  // what is wrong, for people
  Json json;         // the answer's members
};

// Any thread may ask. The helper dies with this process, or when this is destroyed.
class Helper {
 public:
  // url: the store's, or empty for a helper that only fetches. Throws UnavailableError with what to install.
  explicit Helper(const std::string& url);
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  // request: without `id`. on_answer: is called once, on another thread; kEnded: the helper has died.
  using OnAnswer = std::function<void(HelperAnswer)>;
  void send(Json request, OnAnswer on_answer);
  std::future<HelperAnswer> send(Json request);

 private:
  void listen();
  void end();
  void start(const std::string& url);
  void hear(const Json& line);

  std::mutex mutex_;
  std::map<std::int64_t, OnAnswer> waiting_;
  std::promise<Json> greeting_;
  bool greeted_ = false;
  bool ended_ = false;
  bool reaped_ = false;
  std::int64_t next_ = 1;
  std::mutex write_mutex_;
  pid_t pid_ = -1;
  int write_fd_ = -1;
  int read_fd_ = -1;
  std::thread thread_;
};

std::string to_base64(std::string_view bytes);
std::string from_base64(std::string_view text);  // throws Error of kOutput

}  // namespace saccade
