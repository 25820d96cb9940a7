// Standard input and named pipes as FFmpeg reads them, with waits that can be ended.
#pragma once

#include <memory>
#include <string>

#include "pipeline/source/live/watch.h"

namespace saccade {

// Owns the AVIOContext and, for a named pipe, its descriptor. Reads block until there is data, the writer is gone, or
// `watch` says stop. A named pipe may be opened before its writer comes.
class PipeInput {
 public:
  // `path` empty: descriptor `fd`, borrowed. Throws InputError, which names `uri`.
  PipeInput(const std::string& uri, int fd, const std::string& path, ReadWatch& watch);
  ~PipeInput();
  PipeInput(const PipeInput&) = delete;
  PipeInput& operator=(const PipeInput&) = delete;
  AVIOContext* io() const { return io_; }

 private:
  static int read(void* self, std::uint8_t* into, int size);
  int fd_;
  bool owned_;
  ReadWatch& watch_;
  AVIOContext* io_ = nullptr;
};

}  // namespace saccade
