// One parser as a libFuzzer program: SACCADE_FUZZ_PARSER is its name.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const saccade::fuzz::Parser& parser =
      *std::ranges::find(saccade::fuzz::parsers(), std::string_view(SACCADE_FUZZ_PARSER), &saccade::fuzz::Parser::name);
  parser.run({data, size});
  return 0;
}
