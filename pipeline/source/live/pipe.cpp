#include "pipeline/source/live/pipe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr int kBufferBytes = 32768;
constexpr int kPoll_ms = 50;

}  // namespace

PipeInput::PipeInput(const std::string& uri, int fd, const std::string& path, ReadWatch& watch)
    : fd_(path.empty() ? fd : open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)),
      owned_(!path.empty()),
      watch_(watch) {
  if (fd_ < 0 || fcntl(fd_, F_GETFD) < 0) {
    const int fault = errno;
    throw InputError(fmt::format("{}: can't be opened: {}; check its name and permissions", uri, std::strerror(fault)),
                     Hint::kNone, fault);
  }
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer != nullptr) io_ = avio_alloc_context(buffer, kBufferBytes, 0, this, &PipeInput::read, nullptr, nullptr);
  if (io_ == nullptr) {
    av_free(buffer);
    if (owned_) close(fd_);
    throw std::bad_alloc();
  }
}

PipeInput::~PipeInput() {
  av_freep(&io_->buffer);
  avio_context_free(&io_);
  if (owned_) close(fd_);
}

// Never reads before poll() says so: a named pipe without a writer yet reads as ended.
int PipeInput::read(void* self, std::uint8_t* into, int size) {
  auto& pipe = *static_cast<PipeInput*>(self);
  for (;;) {
    if (pipe.watch_.should_stop()) return AVERROR_EXIT;
    pollfd waits{pipe.fd_, POLLIN, 0};
    const int ready = poll(&waits, 1, kPoll_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return AVERROR(errno);
    const ssize_t got = ::read(pipe.fd_, into, static_cast<std::size_t>(size));
    if (got > 0) return static_cast<int>(got);
    if (got == 0) return AVERROR_EOF;
    if (errno != EAGAIN && errno != EINTR) return AVERROR(errno);
  }
}

}  // namespace saccade
