// Names of parameters for GoogleTest, which takes letters, digits and underscores alone.
#pragma once

#include <cctype>
#include <string>

namespace saccade::test {

// `text` with an underscore for any other character.
inline std::string test_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

}  // namespace saccade::test
