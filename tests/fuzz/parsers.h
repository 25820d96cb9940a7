// What of ours reads bytes that others wrote, each as one function of the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace saccade::fuzz {

using Bytes = std::span<const std::uint8_t>;

// Hands the bytes to the parser, lets the errors that it promises pass, and aborts when what it accepted breaks a
// promise: any other exception ends the process too.
struct Parser {
  std::string_view name;
  void (*run)(Bytes input);
  std::vector<std::string_view> seeds;
};

const std::vector<Parser>& parsers();

}  // namespace saccade::fuzz
