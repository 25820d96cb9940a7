// Stage times as Chrome trace-event JSON, which Perfetto and chrome://tracing open.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace saccade {

// The rows of a run's trace.
inline constexpr int kPipelineTraceThread = 1;  // the thread that calls the session
inline constexpr int kDecodeTraceThread = 2;

// Complete events ("ph": "X") are appended to a file as they come, whole events at a time, at least once a second; the
// array is closed by the destructor, and a file cut short still opens (the format allows a missing bracket). Times are
// of one steady clock, in ns. Any thread. Throws Error when the file can't be made; close() throws later faults.
class TraceWriter {
 public:
  explicit TraceWriter(const std::string& path);
  ~TraceWriter();
  void close();  // ends the file: no events after it. Throws Error when not all of it could be written
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  void name_thread(int tid, const char* name);
  void complete(const char* name, int tid, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t frame);
  void counter(const char* name, std::int64_t at_ns, double value);

 private:
  void append(std::string_view event, std::int64_t now_ns);  // one event without separator
  void flush();
  void end();

  const std::string path_;
  std::mutex mutex_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool first_ = true;
  std::string pending_;  // whole events that are not in the file yet
  std::int64_t flushed_ns_ = 0;
  int error_ = 0;  // errno of the first write that failed
};

}  // namespace saccade
