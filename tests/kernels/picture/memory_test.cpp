// Memory of emissions: what stays, what is forgotten, by pictures whose means are known by arithmetic.
#include "kernels/picture/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace saccade {
namespace {

constexpr int kSide = 4;  // samples of a patch
constexpr int kWidth = 32, kHeight = 16;
constexpr std::int32_t kStays = PictureMemory::kStays, kUncovered = PictureMemory::kUncovered;

struct Color {
  float r, g, b;
};
using Picture = std::function<Color(int x, int y)>;

// Stripes of one pixel, 100 and 140: each mean of 2 x 2 or more is 120, exactly.
Color stripes(int x, int) {
  const float grey = x % 2 == 0 ? 100.0f : 140.0f;
  return {grey, grey, grey};
}

Picture with(const Picture& picture, int left, int top, int side, Color delta) {
  return [=](int x, int y) {
    Color at = picture(x, y);
    if (x >= left && x < left + side && y >= top && y < top + side) {
      at = {at.r + delta.r, at.g + delta.g, at.b + delta.b};
    }
    return at;
  };
}

Picture with(const Picture& picture, int left, int top, int side, float grey) {
  return with(picture, left, top, side, Color{grey, grey, grey});
}

// What an eye sees of a picture: patches by their place, samples as means of the pixels inside.
class Look {
 public:
  explicit Look(Picture picture) : picture_(std::move(picture)) {}

  // The patch of this lod whose first sample is the texel (column, row).
  Look& patch(int lod, int column, int row, float coverage = 1) {
    const auto pitch = static_cast<float>(1 << lod);
    patches_.push_back({(static_cast<float>(column) + 0.5f * kSide) * pitch,
                        (static_cast<float>(row) + 0.5f * kSide) * pitch, static_cast<float>(lod), coverage});
    for (int channel = 0; channel < 3; ++channel) {
      for (int y = row; y < row + kSide; ++y) {
        for (int x = column; x < column + kSide; ++x) samples_.push_back(mean(lod, x, y, channel));
      }
    }
    return *this;
  }
  // Patches of this lod over the whole frame.
  Look& all(int lod) {
    for (int row = 0; row << lod < kHeight; row += kSide) {
      for (int column = 0; column << lod < kWidth; column += kSide) patch(lod, column, row);
    }
    return *this;
  }
  Look& shifted(float by_px) {
    patches_.back().x_px += by_px;
    return *this;
  }
  std::vector<std::int32_t> into(PictureMemory& memory) const {
    const auto owner = memory.add(patches_, samples_);
    return {owner.begin(), owner.end()};
  }

 private:
  float mean(int lod, int x, int y, int channel) const {
    double sum = 0;
    for (int py = y << lod; py < (y + 1) << lod; ++py) {
      for (int px = x << lod; px < (x + 1) << lod; ++px) {
        const Color at = picture_(std::min(std::max(px, 0), kWidth - 1), std::min(std::max(py, 0), kHeight - 1));
        sum += static_cast<double>(channel == 0 ? at.r : channel == 1 ? at.g : at.b);
      }
    }
    return static_cast<float>(sum / static_cast<double>(std::int64_t{1} << (2 * lod)));
  }

  Picture picture_;
  std::vector<Patch> patches_;
  std::vector<float> samples_;
};

int count(const std::vector<std::int32_t>& owner, std::int32_t which) {
  return static_cast<int>(std::count(owner.begin(), owner.end(), which));
}

std::int32_t at(const std::vector<std::int32_t>& owner, int x, int y) {
  return owner[static_cast<std::size_t>(y * kWidth + x)];
}

// The whole frame in full resolution, then `next` in lod 1: how many pixels stay.
int stay_after(const Picture& next, int lod = 1) {
  PictureMemory memory(kWidth, kHeight, kSide);
  Look(stripes).all(0).into(memory);
  return count(Look(next).all(lod).into(memory), kStays);
}

TEST(PictureMemory, FirstEmission_ShowsItsFinestPatches) {
  PictureMemory memory(kWidth, kHeight, kSide);
  const auto owner = Look(stripes).patch(0, 8, 4).patch(1, 2, 0).into(memory);
  EXPECT_EQ(count(owner, 0), 16);
  EXPECT_EQ(count(owner, 1), 64 - 16);  // pixels 4 to 12, 0 to 8, of which the fine one has a quarter
  EXPECT_EQ(count(owner, kUncovered), kWidth * kHeight - 64);
  EXPECT_EQ(at(owner, 8, 4), 0);
  EXPECT_EQ(at(owner, 7, 4), 1);
}

TEST(PictureMemory, CoarseSamplesThatAreTheMeans_LeaveWhatWasFine) {
  for (const int lod : {1, 2}) EXPECT_EQ(stay_after(stripes, lod), kWidth * kHeight) << lod;
}

TEST(PictureMemory, FinerAndEquallyFineSamples_ReplaceWhatWasThere) {
  PictureMemory memory(kWidth, kHeight, kSide);
  Look(stripes).all(1).into(memory);
  const auto same = Look(stripes).all(1).into(memory);
  EXPECT_EQ(count(same, kStays), 0);
  const auto finer = Look(stripes).all(1).patch(0, 8, 4).into(memory);
  EXPECT_EQ(count(finer, kStays), 0);
  EXPECT_EQ(count(finer, 8), 16);  // after the 8 patches of lod 1
}

TEST(PictureMemory, TexelKnownInPart_IsNotComparedAndReplaced) {
  PictureMemory memory(kWidth, kHeight, kSide);
  Look(stripes).patch(0, 8, 4).into(memory);  // just a texel of lod 2
  EXPECT_EQ(count(Look(stripes).all(2).into(memory), kStays), 16);
  PictureMemory other(kWidth, kHeight, kSide);
  Look(stripes).patch(0, 10, 4).into(other);  // across two
  EXPECT_EQ(count(Look(stripes).all(2).into(other), kStays), 0);
}

TEST(PictureMemory, TexelKnownInParts_IsComparedWithTheirMean) {
  PictureMemory memory(kWidth, kHeight, kSide);
  Look(stripes).all(2).patch(0, 10, 4).into(memory);  // half of two texels in full resolution, the rest in lod 2
  EXPECT_EQ(count(Look(stripes).all(2).into(memory), kStays), 16);
  // 2 x 2 of 16 pixels up by 12 move their mean by 3: the texel and its neighbours are forgotten.
  EXPECT_EQ(count(Look(with(stripes, 8, 4, 2, 12)).all(2).into(memory), kStays), 0);
}

TEST(PictureMemory, MeanOffByLessThanTwoRoundings_Stays) {
  EXPECT_EQ(stay_after(with(stripes, 8, 4, 2, 2.1f)), kWidth * kHeight);
  EXPECT_EQ(stay_after(with(stripes, 8, 4, 2, -2.1f)), kWidth * kHeight);
}

TEST(PictureMemory, TexelThatChanged_IsForgottenWithItsEightNeighbours) {
  for (const float delta : {2.3f, -2.3f, 90.0f}) {
    PictureMemory memory(kWidth, kHeight, kSide);
    Look(stripes).all(0).into(memory);
    const auto owner = Look(with(stripes, 8, 4, 2, delta)).all(1).into(memory);
    EXPECT_EQ(count(owner, kStays), kWidth * kHeight - 6 * 6) << delta;
    EXPECT_EQ(at(owner, 5, 4), kStays);
    EXPECT_NE(at(owner, 6, 2), kStays);
    EXPECT_NE(at(owner, 11, 7), kStays);
    EXPECT_EQ(at(owner, 12, 7), kStays);
  }
}

TEST(PictureMemory, ChangeBack_IsSeenToo) {
  PictureMemory memory(kWidth, kHeight, kSide);
  Look(stripes).all(0).into(memory);
  Look(with(stripes, 8, 4, 2, 40)).all(1).into(memory);  // held in lod 1 there, for 6 x 6 pixels
  const auto owner = Look(stripes).all(2).into(memory);  // a mean of 130 is held: 120 is none of its roundings
  EXPECT_EQ(count(owner, kStays), kWidth * kHeight - 12 * 12);
}

TEST(PictureMemory, ChangeOfColorAlone_IsSeenBeyondTwiceTheRounding) {
  // Red up by d, green down so that luma stays: 0.2126 d = 0.7152 e.
  const auto tinted = [](float d) { return Color{d, -d * 0.2126f / 0.7152f, 0}; };
  EXPECT_EQ(stay_after(with(stripes, 8, 4, 2, tinted(4.3f))), kWidth * kHeight);
  EXPECT_EQ(stay_after(with(stripes, 8, 4, 2, tinted(4.5f))), kWidth * kHeight - 36);
}

TEST(PictureMemory, MoreThanHalfChanged_IsAllForgotten) {
  const auto left_of = [](int columns) {
    return [columns](int x, int y) {
      const Color was = stripes(x, y);
      return x < columns ? Color{was.r + 50, was.g + 50, was.b + 50} : was;
    };
  };
  EXPECT_EQ(stay_after(left_of(kWidth / 2 + 2)), 0);
  EXPECT_EQ(stay_after(left_of(kWidth / 2)), (kWidth / 2 - 2) * kHeight);  // and a texel at the border
}

TEST(PictureMemory, WhatNoPatchCovers_Stays) {
  PictureMemory memory(kWidth, kHeight, kSide);
  EXPECT_EQ(count(Look(stripes).patch(0, 8, 4).into(memory), kUncovered), kWidth * kHeight - 16);
  Look(stripes).all(0).into(memory);
  const Picture changed = with(stripes, 6, 0, 2, 90);
  const auto part = Look(changed).patch(1, 0, 0).into(memory);
  EXPECT_EQ(count(part, 0), 4 * 4);  // the texel that changed, and its neighbours to the left and below
  EXPECT_EQ(count(part, kStays), kWidth * kHeight - 4 * 4);
  // Its neighbour to the right was not sent: the picture keeps it, and forgets that it was known.
  EXPECT_EQ(at(part, 9, 0), kStays);
  const auto next = Look(changed).all(1).into(memory);
  EXPECT_EQ(at(next, 9, 0), 1);
  EXPECT_EQ(at(next, 10, 0), kStays);
}

TEST(PictureMemory, CutInOnePlace_LeavesWhatNoPatchCovers) {
  PictureMemory memory(kWidth, kHeight, kSide);
  Look(stripes).all(0).into(memory);
  const auto part = Look(with(stripes, 0, 0, 8, 90)).patch(0, 0, 0).into(memory);  // all that is compared has changed
  EXPECT_EQ(count(part, 0), 16);
  EXPECT_EQ(count(part, kStays), kWidth * kHeight - 16);
}

TEST(PictureMemory, SamplesBetweenTexels_AreRefusedAndChangeNothing) {
  PictureMemory memory(kWidth, kHeight, kSide);
  Look(stripes).all(0).into(memory);
  EXPECT_TRUE(Look(with(stripes, 0, 0, kWidth, 80)).patch(1, 2, 0).shifted(1).into(memory).empty());
  EXPECT_EQ(count(Look(stripes).all(1).into(memory), kStays), kWidth * kHeight);
}

TEST(PictureMemory, Forget_KeepsNothing) {
  PictureMemory memory(kWidth, kHeight, kSide);
  Look(stripes).all(0).into(memory);
  memory.forget();
  EXPECT_EQ(count(Look(stripes).all(1).into(memory), kStays), 0);
}

TEST(PictureMemory, PatchesAcrossAndBeyondTheEdge_CountForWhatIsInside) {
  PictureMemory memory(kWidth, kHeight, kSide);
  const auto owner = Look(stripes).patch(1, -2, -2, 0.25f).patch(0, -4, 0, 0).patch(1, 14, 6, 0.25f).into(memory);
  EXPECT_EQ(count(owner, 0), 16);
  EXPECT_EQ(count(owner, 1), 0);
  EXPECT_EQ(count(owner, 2), 16);
  EXPECT_EQ(count(owner, kUncovered), kWidth * kHeight - 32);
}

}  // namespace
}  // namespace saccade
