// What this run may not skip: SACCADE_REQUIRE, a comma list of "gl", "cuda" ...
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace saccade::testing {

// Whether a missing `feature` is a failure and not a skip.
inline bool required(std::string_view feature) {
  const char* list = std::getenv("SACCADE_REQUIRE");
  std::string_view rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (rest.substr(0, comma) == feature) return true;
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return false;
}

// For want of a feature. In a test, return after it; after SetUp() the test does not run.
inline void skip_or_fail(std::string_view feature, const std::string& why) {
  if (required(feature)) FAIL() << "SACCADE_REQUIRE asks for " << feature << ": " << why;
  GTEST_SKIP() << why;
}

}  // namespace saccade::testing
