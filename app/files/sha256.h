// SHA-256, a piece at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace saccade {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(const void* data, std::size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  std::string hexadecimal();  // 64 digits; ends it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_of(std::string_view text);

}  // namespace saccade
