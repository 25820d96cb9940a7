#include "pipeline/run/trace.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::size_t kFlushBytes = 1 << 15;
constexpr std::int64_t kFlushIntervalNs = 1'000'000'000;
constexpr int kProcess = 1;

std::string quoted(const char* text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// The format counts in microseconds; the fraction keeps the nanoseconds.
std::string microseconds(std::int64_t ns) {
  const char* sign = ns < 0 ? "-" : "";
  const std::uint64_t magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", sign, magnitude / 1000, magnitude % 1000);
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb"), &std::fclose) {
  if (!file_) {
    throw Error(ErrorKind::kOutput, OfOption("trace", path),
                fmt::format("the trace can't be written: {}; choose a writable path", std::strerror(errno)));
  }
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // flush() alone decides what goes out together
  pending_.reserve(kFlushBytes);
}

TraceWriter::~TraceWriter() {
  const std::lock_guard lock(mutex_);
  end();
}

void TraceWriter::close() {
  const std::lock_guard lock(mutex_);
  end();
  if (error_ == 0) return;
  throw Error(
      ErrorKind::kOutput, OfOption("trace", path_),
      fmt::format("the trace could not be written: {}; make room, or choose another path", std::strerror(error_)));
}

void TraceWriter::end() {
  if (!file_) return;
  pending_ += first_ ? "[]\n" : "\n]\n";
  flush();
  if (std::fclose(file_.release()) != 0 && error_ == 0) error_ = errno;
}

// The first fault is kept for close(); what comes after it is dropped, so that what was written stays readable.
void TraceWriter::flush() {
  if (error_ == 0 && std::fwrite(pending_.data(), 1, pending_.size(), file_.get()) != pending_.size()) error_ = errno;
  pending_.clear();
}

void TraceWriter::append(std::string_view event, std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (pending_.size() + event.size() > kFlushBytes || now_ns - flushed_ns_ >= kFlushIntervalNs) {
    flush();
    flushed_ns_ = now_ns;
  }
  pending_ += first_ ? "[\n" : ",\n";
  pending_ += event;
  first_ = false;
}

void TraceWriter::name_thread(int tid, const char* name) {
  append(fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", kProcess, tid,
                     quoted(name)),
         0);  // metadata has no time
}

void TraceWriter::complete(const char* name, int tid, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t frame) {
  append(fmt::format(R"({{"name":{},"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"frame":{}}}}})", quoted(name),
                     kProcess, tid, microseconds(begin_ns), microseconds(end_ns - begin_ns), frame),
         end_ns);
}

void TraceWriter::counter(const char* name, std::int64_t at_ns, double value) {
  const std::string number = nlohmann::json(value).dump();  // null when not finite: still valid JSON
  append(fmt::format(R"({{"name":{},"ph":"C","pid":{},"tid":0,"ts":{},"args":{{"value":{}}}}})", quoted(name), kProcess,
                     microseconds(at_ns), number),
         at_ns);
}

}  // namespace saccade
