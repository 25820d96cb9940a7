// The pixel operations of the CPU backend as a table of functions. plain_ops() reads like the definitions; simd_ops()
// replaces them one by one with vector code that gives the same bits. Rows are plain bytes: 16-bit samples need no
// alignment. No operation allocates or throws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"
#include "kernels/pyramid_layout.h"
#include "kernels/shared/color.h"

namespace saccade {

// What a texel is made of. Each kind has its own mip and sampling code.
enum class TexelKind : std::uint8_t { k8x1, k8x2, k8x4, k16x1, k16x2 };
inline constexpr int kTexelKinds = 5;

constexpr TexelKind texel_kind(const PlaneLayout& plane) {
  if (plane.bytes_per_channel == 2) return plane.channels == 1 ? TexelKind::k16x1 : TexelKind::k16x2;
  return plane.channels == 1 ? TexelKind::k8x1 : plane.channels == 2 ? TexelKind::k8x2 : TexelKind::k8x4;
}

// Rows are 64-byte aligned; at least 64 bytes after the last row may be read (their values are unspecified).
struct LevelView {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;  // positive
  int width = 0;                   // texels, padded
  int height = 0;
  const std::uint8_t* row(int y) const { return data + y * pitch_bytes; }
};

// Neighbouring tiles of a row: the first one's level 0, and where its levels 1, 2, 3 (and 4, for tiles
// of 16 texels) go.
struct TileMips {
  int tiles = 1;
  const std::uint8_t* source = nullptr;
  std::ptrdiff_t source_pitch = 0;
  std::array<std::uint8_t*, 4> out{};
  std::array<std::ptrdiff_t, 4> out_pitch{};
};

// Neighbouring tiles of a row, 8 x 8 texels each, at the same place of three pictures of 8-bit luma: their first
// texels. A row and a column beyond the tiles are read. So may be 64 bytes after that, whose values don't matter.
struct DetailRun {
  int tiles = 1;
  const std::uint8_t* now = nullptr;
  const std::uint8_t* before = nullptr;
  const std::uint8_t* seen = nullptr;
  std::ptrdiff_t pitch = 0;
  std::ptrdiff_t next = 0;  // from these tiles to those that are asked for next, so that they are fetched meanwhile
  int noise = 0;            // codes: of a step between neighbours only what exceeds it counts
};

// Where sums over the texels of such tiles go, one a tile. The step of a texel is the larger one of those to its right
// and below.
struct DetailSums {
  int* across = nullptr;    // steps to the right, of now
  int* down = nullptr;      // steps below, of now
  int* unread = nullptr;    // max(step of now - step of seen, 0)
  int* appeared = nullptr;  // max(step of now - step of before, 0)
  int* vanished = nullptr;  // max(step of before - step of now, 0)
  // The codes of quarters of 4 x 4 texels, two a tile: of its upper half, and of its lower.
  std::array<int*, 2> now{}, seen{};
};

// Neighbouring tiles of a row, 16 x 16 texels each, of 8-bit luma, and how another picture shows them: with texels of
// `level`, 0 to 4. Of either the first texel. Up to 16 bytes beyond the last texel may be read.
struct ErrorRun {
  int tiles = 1;
  int last_width = 16;  // texels of the last tile that count, from the left
  int rows = 16;        // of all, from the top
  const std::uint8_t* now = nullptr;
  std::ptrdiff_t pitch = 0;
  const std::uint8_t* shown = nullptr;
  std::ptrdiff_t shown_pitch = 0;
  int level = 0;
  int power = 3;  // a difference of d codes counts as d^power, 2 or 3
  int noise = 0;  // up to so many codes as nothing
};

// What the sampler reads: the levels of each plane, and how a sample becomes R'G'B'.
struct SampleSource {
  std::span<const LevelView> luma;    // or RGBA
  std::span<const LevelView> chroma;  // empty: RGBA
  bool wide = false;                  // 16-bit samples
  shared::ColorParams color{};        // for code values
  float site_shift_x = 0;             // see ColorSpec
  float site_shift_y = 0;
};

struct CpuOps {
  // Frame rows to the texture's form. n: chroma texels (interleave), samples (shift).
  void (*interleave8)(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* out, std::size_t n);
  void (*interleave16)(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* out, std::size_t n, int shift);
  void (*shift16)(const std::uint8_t* in, std::uint8_t* out, std::size_t n, int shift);

  // Columns of 16 bytes by `rows` (at most 16) rows, the last column maybe narrower: whether any byte differs, and the
  // sum of max(|a - b| - floor, 0). One entry per column is written.
  void (*compare8)(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
                   std::size_t width, int rows, int floor, std::uint8_t* unequal, std::uint32_t* energy);

  // Differences gather in `marks`, a byte array as long as the row, over the rows of a tile row:
  // marks |= a ^ b, n bytes.
  void (*mark_unequal)(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n);
  // marks += |a - b| > threshold ? 1 : 0, n samples (16 bit: the count is a 16-bit value as well).
  void (*count_over8)(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n, int threshold);
  void (*count_over16)(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n, int threshold);
  // sums[t] += the bytes of marks[t * tile_bytes, (t + 1) * tile_bytes). tile_bytes: 16, 32 or 64.
  void (*sum_marks)(const std::uint8_t* marks, std::size_t tiles, std::size_t tile_bytes, std::uint32_t* sums);

  // Sum of max(|a - b| - floor, 0) over a block; width in samples, at most 64; height at most 16.
  std::uint32_t (*energy8)(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
                           int width, int height, int floor);
  std::uint32_t (*energy16)(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b,
                            std::ptrdiff_t b_pitch, int width, int height, int floor);

  // Levels 1 .. log2(tile size) of each tile, and per tile and channel the sum of the whole tile. Indexed by TexelKind;
  // tiles are 16 x 16 texels, 8 x 8 for two channels.
  using TileMipsFn = void (*)(const TileMips& run, std::uint32_t* sums);
  std::array<TileMipsFn, kTexelKinds> tile_mips{};

  void (*tile_detail)(const DetailRun& run, const DetailSums& out);

  // Of each tile the sum of its texels' errors, at most 256 * 255^3 < 2^32.
  void (*tile_errors)(const ErrorRun& run, std::uint32_t* errors);

  // S x S samples of a patch, written as 3 x S x S values.
  void (*sample_patch)(const SampleSource& source, const Patch& patch, int size, const SampleFormat& format,
                       std::byte* out);
};

const CpuOps& plain_ops();
// Its sample_patch: explicit fetch and lerp, one sample at a time.
void plain_sample_patch(const SampleSource& source, const Patch& patch, int size, const SampleFormat& format,
                        std::byte* out);

// For the best instruction set of this machine (or of hwy::SetSupportedTargetsForTest, read at each call).
CpuOps simd_ops();
// Its parts: each file replaces the operations it has.
void use_simd_rows(CpuOps& ops);
void use_simd_mips(CpuOps& ops);
void use_simd_detail(CpuOps& ops);
void use_simd_errors(CpuOps& ops);
void use_simd_sampler(CpuOps& ops);

// Which instruction set they run on here, by Highway's name of it: "AVX2", "AVX3", "NEON" ...
const char* simd_target();

}  // namespace saccade
