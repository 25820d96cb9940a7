// A ring of equal slots in one buffer through which the CPU streams data to GL without waiting for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/gl/context.h"

namespace saccade::gl {

// write() lends the next slot; submit() after the GL commands that read it were issued. A slot is fenced then, and lent
// again only when its fence has signalled: with three slots that is no wait unless GL is two frames behind.
// Persistently mapped, or mapped per use where that is masked. Owning thread only.
class PboRing {
 public:
  static constexpr int kSlots = 3;

  PboRing() = default;
  PboRing(const Capabilities& capabilities, std::int64_t slot_bytes);

  std::span<std::byte> write();  // the whole slot; contents are undefined
  void flush();                  // after the last write to the slot, before GL reads it
  void submit();                 // after the last GL command that reads it

  GLuint buffer() const { return buffer_.name(); }
  std::int64_t offset_bytes() const { return slot_ * slot_bytes_; }  // of the slot lent last, in buffer()
  std::int64_t slot_bytes() const { return slot_bytes_; }

 private:
  Buffer buffer_;
  std::int64_t slot_bytes_ = 0;
  std::byte* mapped_ = nullptr;  // persistent mapping of the whole buffer, or null
  std::array<Sync, kSlots> fences_;
  int slot_ = 0;
};

}  // namespace saccade::gl
