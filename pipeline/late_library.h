// A shared library that only some inputs need, opened by name when the first one does.
#pragma once

#include <string>

namespace saccade {

// It stays open.
class LateLibrary {
 public:
  // user: what needs it. packages: what to install. Both are for the message. Throws UnavailableError, as bind() does,
  // if the library or the function is missing.
  LateLibrary(std::string user, std::string soname, std::string packages);
  template <class Function>
  void bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
  }

 private:
  void* find(const char* symbol) const;
  [[noreturn]] void fail() const;
  std::string user_, soname_, packages_;
  void* handle_;
};

}  // namespace saccade
