// Stage times as Chrome trace-event JSON, which Perfetto and chrome://tracing open.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace saccade {

// Complete events ("ph": "X") are appended to a file as they come; the array is closed by the destructor, and a file
// cut short still opens (the format allows a missing bracket). Any thread. Throws Error when the file can't be made.
class TraceWriter {
 public:
  explicit TraceWriter(const std::string& path);
  ~TraceWriter();
  void name_thread(int tid, const char* name);
  void complete(const char* name, int tid, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t frame);
  void counter(const char* name, std::int64_t at_ns, double value);

 private:
  std::mutex mutex_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool first_ = true;
  std::int64_t origin_ns_ = 0;
};

}  // namespace saccade
