// Three pictures in one area: none touches another, and the larger arrangement wins.
#include "ui/compare/columns.h"

#include <gtest/gtest.h>

namespace saccade::ui {
namespace {

TEST(Columns, WideArea_PutsThemBesideEachOther) {
  const Columns columns = lay_columns({640, 360, 1.0}, {10, 20, 1290, 320}, 20, 5);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(columns.captions[i].top, 20);
    EXPECT_EQ(columns.pictures[i].top, 40);
    EXPECT_EQ(columns.captions[i].left, columns.pictures[i].left);
  }
  EXPECT_EQ(columns.pictures[0].left, 10);
  EXPECT_EQ(columns.pictures[1].left - columns.pictures[0].right, 5);
  EXPECT_EQ(columns.pictures[2].right, 1290);
}

TEST(Columns, TallArea_PutsThemBelowEachOther) {
  const Columns columns = lay_columns({640, 360, 1.0}, {0, 0, 400, 900}, 20, 5);
  EXPECT_EQ(columns.pictures[0].left, columns.pictures[2].left);
  EXPECT_GE(columns.captions[1].top, columns.pictures[0].bottom);
  EXPECT_EQ(columns.pictures[2].bottom, 900);
}

TEST(Columns, AnyArea_HoldsThreeThatDontOverlap) {
  for (const PixelBox area : {PixelBox{0, 0, 1, 1}, {0, 0, 7, 3}, {5, 5, 80, 60}, {0, 0, 3000, 30}, {0, 0, 30, 3000}}) {
    const Columns columns = lay_columns({320, 180, 1.0}, area, 22, 5);
    for (std::size_t i = 0; i < 3; ++i) {
      const PixelBox& picture = columns.pictures[i];
      EXPECT_TRUE(picture.empty() || intersection(picture, area) == picture);
      for (std::size_t j = 0; j < i; ++j) EXPECT_TRUE(intersection(picture, columns.pictures[j]).empty());
    }
  }
}

}  // namespace
}  // namespace saccade::ui
