// Textures of the GPU's texture unit are counted, with their memory.
#include <saccade/tensor.h>

#include <array>

#include "tests/capi/cuda/device_room.h"

namespace saccade::test {
namespace {

class HardwareTexture : public DeviceTest {};

saccade_memory_use memory_now() {
  auto use = sized<saccade_memory_use>();
  EXPECT_EQ(saccade_get_memory_use(&use), SACCADE_OK) << saccade_last_error();
  return use;
}

saccade_array level_of(const DeviceBytes& memory, std::int64_t height, std::int64_t width) {
  saccade_array array{};
  array.data = memory.as<void>();
  const std::int64_t shape[4] = {2, 3, height, width};
  std::int64_t stride = 1;
  for (int axis = 3; axis >= 0; --axis) {
    array.shape[axis] = shape[axis];
    array.stride[axis] = stride;
    stride *= shape[axis];
  }
  array.dtype = SACCADE_F32;
  return array;
}

TEST_F(HardwareTexture, MadeAndFreed_IsCounted) {
  const DeviceBytes fine(6 * 8 * 16 * 4), coarse(6 * 4 * 8 * 4);
  const std::array<saccade_array, 2> levels{level_of(fine, 8, 16), level_of(coarse, 4, 8)};
  auto place = sized<saccade_place>();
  place.cuda = 1;
  const saccade_memory_use before = memory_now();
  saccade_hardware_texture* texture = nullptr;
  ASSERT_EQ(saccade_hardware_texture_new(&place, levels.data(), 2, &texture), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(memory_now().hardware_textures, before.hardware_textures + 1);
  EXPECT_EQ(memory_now().device_bytes, before.device_bytes + 6 * (8 * 16 + 4 * 8) * 4);
  saccade_hardware_texture_free(texture);
  EXPECT_EQ(memory_now().hardware_textures, before.hardware_textures);
  EXPECT_EQ(memory_now().device_bytes, before.device_bytes);
}

}  // namespace
}  // namespace saccade::test
