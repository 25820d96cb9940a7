// Arrays of tests on the host, without gaps, settings of lattices, and the smallest sampling.
#pragma once

#include <saccade/tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace saccade::test {

inline constexpr saccade_place kHost{sizeof(saccade_place), nullptr, 0, 0, 2, 0};

inline saccade_array array_of(std::vector<float>& data, std::vector<std::int64_t> shape) {
  saccade_array array{};
  array.data = data.data();
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    array.shape[axis] = shape[axis];
    array.stride[axis] = stride;
    stride *= shape[axis];
  }
  array.dtype = SACCADE_F32;
  return array;
}

// Without e0, m0 and rings.
inline saccade_lattice_settings lattice_settings(saccade_lattice_kind kind, int tokens, int width, int height) {
  saccade_lattice_settings settings{};
  settings.struct_size = sizeof settings;
  settings.kind = kind;
  settings.tokens = tokens;
  settings.patch_size = 16;
  settings.levels = 7;
  settings.lod = -1;
  settings.fov_deg = 40;
  settings.sar = 1;
  settings.width_px = width;
  settings.height_px = height;
  return settings;
}

// One patch of one sample between the four texels of a 2 x 2 image, half of it from level 1.
struct OneSample {
  std::vector<float> base{1, 2, 3, 4}, half{2.5f}, center{0.5f, 0.5f}, lod{0.5f}, gradient{8};
  std::array<saccade_array, 2> levels{array_of(base, {1, 1, 2, 2}), array_of(half, {1, 1, 1, 1})};
  saccade_array centers = array_of(center, {1, 1, 2}), lods = array_of(lod, {1, 1});
  saccade_array incoming = array_of(gradient, {1, 1, 1, 1, 1});
  saccade_sample_options options{sizeof(saccade_sample_options), 1, SACCADE_PADDING_BORDER, 1, 1, 0, 0};
  std::vector<float> image = std::vector<float>(4), sums = std::vector<float>(1), to_center = std::vector<float>(2);
  saccade_array out = array_of(image, {1, 1, 2, 2});

  saccade_status back(std::size_t sums_bytes) {
    return saccade_sample_image_backward(&kHost, levels.data(), 2, &centers, &lods, nullptr, &options, &incoming,
                                         SACCADE_ODD_FLOOR, &out, sums.data(), sums_bytes, nullptr, to_center.data(),
                                         nullptr, nullptr);
  }
};

}  // namespace saccade::test
