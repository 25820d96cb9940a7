// What keeps an input within its limits.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

#include "pipeline/source/demux/guard.h"

extern "C" {
#include <libavutil/mem.h>
}

namespace saccade {
namespace {

bool may_allocate(std::size_t bytes) {
  void* memory = av_malloc(bytes);
  const bool got = memory != nullptr;
  av_free(memory);
  return got;
}

constexpr std::size_t kLeast = std::size_t{256} << 20;

TEST(AllocationLimit, OfSeveralInputs_IsTheLargest) {
  EXPECT_TRUE(may_allocate(kLeast + 4096));
  std::optional<AllocationLimit> small, large;
  small.emplace(1);
  EXPECT_FALSE(may_allocate(kLeast + 4096));
  EXPECT_TRUE(may_allocate(1 << 20));
  large.emplace((kLeast >> 3) + 4096);
  EXPECT_TRUE(may_allocate(kLeast + 4096));
  large.reset();
  EXPECT_FALSE(may_allocate(kLeast + 4096));
  small.reset();
  EXPECT_TRUE(may_allocate(kLeast + 4096));
}

}  // namespace
}  // namespace saccade
