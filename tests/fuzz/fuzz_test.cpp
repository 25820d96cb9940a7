// A short run of every parser on seeds that are changed at random, the same on each run. Longer ones: SACCADE_FUZZ.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "parsers.h"

namespace saccade::fuzz {
namespace {

using Random = std::mt19937_64;
constexpr int kRuns = 20000;
constexpr std::string_view kPieces[] = {"\n", ",",   "=",   "[",       "]",    "\"",         "1e999",
                                        "-0", "nan", "%d",  "%",       "\xff", "0x7fffffff", "999999999999999999999",
                                        "(",  "'",   "://", "\\u0000", "[[",   "#"};

void change(std::vector<std::uint8_t>& bytes, Random& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
  const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (random() % 6) {
    case 0:
      if (!bytes.empty()) bytes[below(bytes.size())] ^= static_cast<std::uint8_t>(1U << (random() % 8));
      break;
    case 1:
      if (!bytes.empty()) bytes[below(bytes.size())] = static_cast<std::uint8_t>(random());
      break;
    case 2:
      bytes.resize(below(bytes.size() + 1));
      break;
    case 3: {
      const std::string_view piece = kPieces[random() % std::size(kPieces)];
      bytes.insert(at(below(bytes.size() + 1)), piece.begin(), piece.end());
      break;
    }
    case 4: {
      const std::size_t from = below(bytes.size() + 1), count = std::min(bytes.size() - from, below(20));
      const std::vector<std::uint8_t> copy(at(from), at(from + count));
      bytes.insert(at(below(bytes.size() + 1)), copy.begin(), copy.end());
      break;
    }
    default: {
      const std::size_t from = below(bytes.size() + 1), count = std::min(bytes.size() - from, below(8));
      bytes.erase(at(from), at(from + count));
    }
  }
}

class Fuzz : public testing::TestWithParam<Parser> {};

TEST_P(Fuzz, AnyBytes_KeepThePromises) {
  const Parser& parser = GetParam();
  Random random(7);
  for (int i = 0; i < kRuns; ++i) {
    const std::string_view seed = parser.seeds[random() % parser.seeds.size()];
    std::vector<std::uint8_t> bytes(seed.begin(), seed.end());
    for (auto changes = i == 0 ? 0 : random() % 5; changes > 0; --changes) change(bytes, random);
    SCOPED_TRACE(std::string(bytes.begin(), bytes.end()));
    ASSERT_NO_THROW(parser.run(bytes)) << parser.name << ", run " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Parsers, Fuzz, testing::ValuesIn(parsers()),
                         [](const auto& parser) { return std::string(parser.param.name); });

}  // namespace
}  // namespace saccade::fuzz
