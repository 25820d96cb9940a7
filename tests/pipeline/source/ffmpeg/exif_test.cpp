// EXIF by hand: both byte orders, damage at every byte, pages; and orientations against the definition of each.
#include "pipeline/source/ffmpeg/exif.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "pipeline/source/ffmpeg/orientation.h"

namespace saccade::test {
namespace {

using Data = std::vector<std::uint8_t>;

struct Entry {
  std::uint32_t tag, type, count, value;
};

// Directories one after the other, each with the offset of the next, in one of the byte orders.
Data tiff(bool big_endian, const std::vector<std::vector<Entry>>& directories) {
  Data data;
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) data.push_back(value >> 8 * (big_endian ? bytes - 1 - i : i) & 0xff);
  };
  for (int i = 0; i < 2; ++i) data.push_back(big_endian ? 'M' : 'I');
  put(42, 2);
  put(8, 4);
  for (std::size_t i = 0; i < directories.size(); ++i) {
    put(static_cast<std::uint32_t>(directories[i].size()), 2);
    for (const Entry& entry : directories[i]) {
      put(entry.tag, 2);
      put(entry.type, 2);
      put(entry.count, 4);
      const int bytes = entry.type == 3 ? 2 : entry.type == 1 ? 1 : 4;
      put(entry.value, bytes);
      put(0, 4 - bytes);
    }
    const bool is_last = i + 1 == directories.size();
    put(is_last ? 0 : static_cast<std::uint32_t>(data.size()) + 4, 4);
  }
  return data;
}

TEST(Exif, AnyOrientation_IsReadInBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    for (std::uint32_t value = 0; value <= 9; ++value) {
      for (const std::uint32_t type : {1U, 3U, 4U}) {
        const Data data = tiff(big_endian, {{{271, 2, 100, 1U << 31}, {274, type, 1, value}, {305, 99, 7, 7}}});
        EXPECT_EQ(read_orientation(data), value <= 8 ? static_cast<int>(value) : 0);
      }
    }
  }
  EXPECT_EQ(read_orientation(tiff(true, {{{271, 3, 1, 6}}})), 0);
  EXPECT_EQ(read_orientation(tiff(true, {{{274, 3, 0, 6}}})), 0);
  EXPECT_EQ(read_orientation(tiff(true, {{}, {{274, 3, 1, 6}}})), 0);  // of the thumbnail
}

// Cut anywhere, and with any byte set to ones: no crash, and no value but one of the nine.
TEST(Exif, Damage_IsPassedOver) {
  for (const bool big_endian : {false, true}) {
    const Data whole = tiff(big_endian, {{{274, 3, 1, 6}}, {{256, 3, 1, 4}}});
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const Data cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
      const int orientation = read_orientation(cut);
      EXPECT_TRUE(orientation == 0 || orientation == 6) << i;
      Data changed = whole;
      changed[i] = 0xff;
      EXPECT_GE(read_orientation(changed), 0);
      EXPECT_LE(read_orientation(changed), 8);
      EXPECT_LE(count_pages(changed), 2);
    }
  }
}

TEST(Exif, DirectoriesInACircle_AreCountedOnce) {
  Data data = tiff(false, {{{256, 3, 1, 4}}, {{256, 3, 1, 4}}});
  data[data.size() - 4] = 8;
  EXPECT_EQ(count_pages(data), 2);
}

// NewSubfileType (254): bit 0 is a smaller copy, bit 1 a page of several, bit 2 a mask.
// SubfileType (255): 2 is a smaller copy.
TEST(Exif, CopiesAndMasks_AreNoPages) {
  const Entry width = {256, 4, 1, 64};
  EXPECT_EQ(count_pages(tiff(true, {{width}})), 1);
  EXPECT_EQ(count_pages(tiff(true, {{width}, {width}, {{254, 4, 1, 2}, width}})), 3);
  EXPECT_EQ(count_pages(tiff(false, {{width}, {{254, 4, 1, 1}, width}, {{254, 4, 1, 4}, width}})), 1);
  EXPECT_EQ(count_pages(tiff(false, {{width}, {{255, 3, 1, 2}, width}, {{255, 3, 1, 1}, width}})), 2);
  EXPECT_EQ(count_pages(tiff(false, {{width}, {{513, 4, 1, 99}}})), 1);  // EXIF's thumbnail: no width of its own
}

// A 3x2 picture whose pixels are numbered, seen as TIFF 6.0 says: where row 0 and column 0 of the stored picture are.
TEST(Orientation, OfExif_PutsRowAndColumnZeroWhereTiffSays) {
  struct Place {
    const char* row;
    const char* column;
  };
  constexpr std::array<Place, 8> kPlaces = {{{"top", "left"},
                                             {"top", "right"},
                                             {"bottom", "right"},
                                             {"bottom", "left"},
                                             {"left", "top"},
                                             {"right", "top"},
                                             {"right", "bottom"},
                                             {"left", "bottom"}}};
  const auto side = [](const std::string& name, int& place, int size) {
    place = name == "top" || name == "left" ? 0 : size - 1;
  };
  for (int value = 1; value <= 8; ++value) {
    const Orientation orientation = exif_orientation(value);
    const Place& place = kPlaces[static_cast<std::size_t>(value - 1)];
    const bool transposed = value > 4;
    EXPECT_EQ(orientation.transpose, transposed);
    // The stored corner: row 0, column 0.
    int x = 0, y = 0;
    const int width = transposed ? 2 : 3, height = transposed ? 3 : 2;
    if (orientation.hflip) x = width - 1 - x;
    if (orientation.vflip) y = height - 1 - y;
    int wanted_x = 0, wanted_y = 0;
    side(transposed ? place.column : place.row, wanted_y, height);
    side(transposed ? place.row : place.column, wanted_x, width);
    EXPECT_EQ(x, wanted_x) << value;
    EXPECT_EQ(y, wanted_y) << value;
    Orientation read;
    EXPECT_EQ(read_display_matrix(display_matrix(orientation).data(), read), MatrixKind::kUpright);
    EXPECT_EQ(read, orientation);
  }
  EXPECT_TRUE(exif_orientation(0).identity());
  EXPECT_TRUE(exif_orientation(9).identity());
}

// As the matrices multiply.
TEST(Orientation, OneAfterTheOther_IsTheProductOfTheirMatrices) {
  const auto upper = [](const Orientation& o) {
    const DisplayMatrix m = display_matrix(o);
    return std::array<double, 4>{m[0] / 65536.0, m[1] / 65536.0, m[3] / 65536.0, m[4] / 65536.0};
  };
  for (int first = 1; first <= 8; ++first) {
    for (int second = 1; second <= 8; ++second) {
      const auto a = upper(exif_orientation(first)), b = upper(exif_orientation(second));
      const std::array<double, 4> product = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                             a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
      EXPECT_EQ(upper(exif_orientation(first).then(exif_orientation(second))), product) << first << second;
    }
  }
}

}  // namespace
}  // namespace saccade::test
