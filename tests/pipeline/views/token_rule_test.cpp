// The table's rules against what their sources publish: examples by hand, and the formula written a second time.
#include "pipeline/views/token_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "pipeline/error.h"

namespace saccade {
namespace {

const TokenRule& rule(const char* name) { return find_rule(name)->rule; }
int tokens(const char* name, int width, int height) { return tokens_of(rule(name), {width, height}).value(); }
ImageSize seen(const char* name, int width, int height) { return seen_size(rule(name), {width, height}).value(); }

int ceil_div(int a, int b) { return (a + b - 1) / b; }

TEST(TokenRule, Table_HasEachNameOnceWithItsSource) {
  std::set<std::string> names;
  for (const NamedRule& row : named_rules()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(std::string(row.source).rfind("https://", 0), 0U) << row.name;
    EXPECT_EQ(std::string(row.date).size(), 10U) << row.name;
    EXPECT_NO_THROW(check_rule(row.rule)) << row.name;
    EXPECT_EQ(find_rule(row.name), &row);
  }
  EXPECT_EQ(find_rule("gpt-2"), nullptr);
}

// https://platform.claude.com/docs/en/build-with-claude/vision, its table of sizes.
TEST(TokenRule, Claude_HasThePublishedExamples) {
  EXPECT_EQ(tokens("claude", 200, 200), 64);
  EXPECT_EQ(tokens("claude", 1000, 1000), 1296);
  EXPECT_EQ(seen("claude", 1920, 1080), (ImageSize{1456, 819}));
  EXPECT_EQ(tokens("claude", 1920, 1080), 1560);
  EXPECT_EQ(tokens("claude-high", 1920, 1080), 2691);
  EXPECT_EQ(seen("claude-high", 3840, 2160), (ImageSize{2576, 1449}));
  EXPECT_EQ(tokens("claude-high", 3840, 2160), 4784);
  EXPECT_EQ(seen("claude", 1080, 1920), (ImageSize{819, 1456}));
}

// https://developers.openai.com/api/docs/guides/images-vision, its examples.
TEST(TokenRule, OpenAi_HasThePublishedExamples) {
  EXPECT_EQ(tokens("gpt-4o", 1024, 1024), 765);
  EXPECT_EQ(tokens("gpt-4o", 2048, 4096), 1105);
  EXPECT_EQ(tokens("gpt-4o", 512, 512), 255);
  EXPECT_EQ(tokens("gpt-5.1", 768, 768), 630);
  EXPECT_EQ(tokens("gpt-5.4", 1024, 1024), 1229);
  EXPECT_EQ(seen("gpt-5.4", 2048, 2048), (ImageSize{1600, 1600}));
  EXPECT_EQ(tokens("gpt-5.4", 2048, 2048), 3000);
  EXPECT_EQ(seen("o4-mini", 1800, 2400), (ImageSize{1056, 1408}));
  EXPECT_EQ(tokens("o4-mini", 1800, 2400), 2498);     // ceil(1452 * 1.72)
  EXPECT_EQ(tokens("gpt-5-mini", 1800, 2400), 1743);  // ceil(1452 * 1.2)
}

// https://ai.google.dev/gemini-api/docs/image-understanding
TEST(TokenRule, Gemini_HasThePublishedExample) {
  EXPECT_EQ(tokens("gemini-2.5", 384, 384), 258);
  EXPECT_EQ(tokens("gemini-2.5", 960, 540), 6 * 258);
}

TEST(TokenRule, TilesAndPatches_FollowTheFormula) {
  std::mt19937 rng(29);
  for (int i = 0; i < 10000; ++i) {
    const int width = 1 + static_cast<int>(rng() % 5000), height = 1 + static_cast<int>(rng() % 5000);
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    EXPECT_EQ(tokens("gemma-3", width, height), 256);
    if (std::max(width, height) > 2048) continue;
    const double shrink = std::min(1.0, 768.0 / std::min(width, height));
    const auto side = [&](int px) { return std::max(1, static_cast<int>(std::floor(px * shrink + 1e-9))); };
    EXPECT_EQ(tokens("gpt-4o", width, height), 85 + 170 * ceil_div(side(width), 512) * ceil_div(side(height), 512));
    const int patches = ceil_div(width, 32) * ceil_div(height, 32);
    if (patches <= 2500) {
      EXPECT_EQ(tokens("gpt-5.4", width, height), static_cast<int>(std::ceil(patches * 1.2)));
      EXPECT_EQ(seen("gpt-5.4", width, height), (ImageSize{width, height}));
    } else {
      EXPECT_LE(tokens("gpt-5.4", width, height), 3000);
    }
  }
}

TEST(TokenRule, KeptSizes_AreKeptAndHoldWhatTheyShould) {
  std::mt19937 rng(30);
  for (const NamedRule& row : named_rules()) {
    for (int i = 0; i < 300; ++i) {
      const ImageSize holds{1 + static_cast<int>(rng() % 2000), 1 + static_cast<int>(rng() % 1200)};
      const auto kept = kept_size(row.rule, holds);
      if (!kept) continue;
      SCOPED_TRACE(std::string(row.name) + " " + std::to_string(holds.width) + "x" + std::to_string(holds.height));
      EXPECT_TRUE(is_kept(row.rule, *kept));
      EXPECT_EQ(seen_size(row.rule, *kept), kept);
      EXPECT_GE(kept->width, holds.width);
      EXPECT_GE(kept->height, holds.height);
    }
    EXPECT_TRUE(kept_size(row.rule, {1, 1})) << row.name;
  }
  EXPECT_EQ(kept_size(rule("qwen2.5-vl"), {100, 40}), (ImageSize{112, 56}));
  EXPECT_EQ(kept_size(rule("qwen3-vl"), {100, 40}), (ImageSize{256, 256}));
  EXPECT_EQ(kept_size(rule("claude"), {100, 40}), (ImageSize{112, 56}));
  EXPECT_EQ(kept_size(rule("claude"), {2000, 40}), std::nullopt);
  EXPECT_EQ(kept_size(rule("gemma-3"), {897, 40}), std::nullopt);
}

TEST(TokenRule, LargestKeptSize_UsesTheBudget) {
  for (const NamedRule& row : named_rules()) {
    const ImageSize shape{1920, 1080};
    const auto size = largest_kept_size(row.rule, shape, 6000);
    if (!size) continue;
    EXPECT_TRUE(is_kept(row.rule, *size)) << row.name;
    EXPECT_LE(tokens_of(row.rule, *size), 6000) << row.name;
  }
  EXPECT_EQ(largest_kept_size(rule("qwen2.5-vl"), {1600, 900}, 1296), (ImageSize{48 * 28, 27 * 28}));
  EXPECT_EQ(largest_kept_size(rule("claude"), {1, 1}, 3000), (ImageSize{39 * 28, 39 * 28}));
  EXPECT_EQ(largest_kept_size(rule("gemma-3"), {16, 9}, 255), std::nullopt);
}

TEST(TokenRule, WhatNoImageCanFollow_IsRefused) {
  EXPECT_THROW(check_rule({.unit_px = 0}), UsageError);
  EXPECT_THROW(check_rule({.unit_tokens = 0}), UsageError);
  EXPECT_THROW(check_rule({.min_pixels = 2, .max_pixels = 1}), UsageError);
  EXPECT_THROW(check_rule({.resizing = Resizing::kPadded}), UsageError);
  EXPECT_THROW(check_rule({.resizing = Resizing::kTiles, .max_side_px = 2048}), UsageError);
  EXPECT_THROW(check_rule({.step_px = 0}), UsageError);
  EXPECT_EQ(tokens_of(rule("qwen2.5-vl"), {4020, 20}), std::nullopt);  // thinner than 1 to 200
}

}  // namespace
}  // namespace saccade
