// FFmpeg's libraries that only some inputs need, opened when the first one does.
#pragma once

#include <string>

namespace saccade {

// Note [Late libraries]
// libavfilter and libavdevice bring some 80 libraries of their own, which take longer to load than everything else that
// happens before the first frame. A file whose frames pass straight through needs neither. So they are not linked, but
// opened by the soname that belongs to their headers, and then stay.
class LateLibrary {
 public:
  // `name`: "libavfilter". Throws UnavailableError where it is missing; `user` is what needs it, for the message.
  LateLibrary(const std::string& name, int major, const std::string& user);

  template <class Function>
  void bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
  }

 private:
  void* find(const char* symbol) const;
  [[noreturn]] void fail() const;
  std::string user_, name_, soname_;
  void* handle_;
};

// Makes av_find_input_format know the devices: cameras, lavfi. Any thread, any number of times.
// Throws UnavailableError.
void register_devices(const std::string& user);

}  // namespace saccade
