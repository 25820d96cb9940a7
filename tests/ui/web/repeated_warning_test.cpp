// Warnings of strangers: how many lines a flood makes, and that the counts add up.
#include "ui/web/server/repeated_warning.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace saccade::ui {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

TEST(RepeatedWarning, TheFirst_IsSaidAtOnceAndTheNextAfterAMinute) {
  RepeatedWarning warning;
  EXPECT_EQ(warning.came("wrong", 5), "wrong");
  EXPECT_EQ(warning.due(5 + 90 * kSecond_ns), "");
  EXPECT_EQ(warning.came("wrong again", 5 + 91 * kSecond_ns), "wrong again");
}

TEST(RepeatedWarning, AFlood_IsOneLineAMinuteWithItsCount) {
  RepeatedWarning warning;
  std::vector<std::string> lines;
  const auto note = [&](const std::string& line) {
    if (!line.empty()) lines.push_back(line);
  };
  for (std::int64_t ms = 0; ms < 150'000; ms += 10) {
    note(warning.came("wrong", ms * 1'000'000));
    if (ms % 10'000 == 0) note(warning.due(ms * 1'000'000));
  }
  note(warning.due(150 * kSecond_ns, true));
  EXPECT_EQ(lines,
            (std::vector<std::string>{"wrong", "wrong (6000 times)", "wrong (6000 times)", "wrong (2999 times)"}));
}

TEST(RepeatedWarning, WhatWaits_IsSaidWhenItsMinuteIsOverOrAtTheEnd) {
  RepeatedWarning warning;
  EXPECT_EQ(warning.due(0, true), "");
  warning.came("a", 0);
  EXPECT_EQ(warning.came("b", kSecond_ns), "");
  EXPECT_EQ(warning.due(59 * kSecond_ns), "");
  EXPECT_EQ(warning.due(60 * kSecond_ns), "b");
  EXPECT_EQ(warning.came("c", 61 * kSecond_ns), "");
  EXPECT_EQ(warning.came("d", 62 * kSecond_ns), "");
  EXPECT_EQ(warning.due(63 * kSecond_ns, true), "d (2 times)");
}

}  // namespace
}  // namespace saccade::ui
