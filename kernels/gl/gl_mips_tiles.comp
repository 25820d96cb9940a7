// Levels 1 to log2(TILE) of the damaged tiles of one plane, and each tile's exact sum.
//
//   a workgroup owns 4 tiles; a thread owns a BLOCK x BLOCK square of one tile (BLOCK = TILE / 4):
//
//     +--+--+--+--+   each thread: its block's levels (1, 2 for luma; 1 for chroma) and its block's sum, into `sums`
//     |  |  |  |  |   then threads 0..3 of a tile: one quadrant each (TILE/2 texels square)
//     +--+--+--+--+   and thread 4: the whole tile, its level and the side array's entry
//     |  |  |  |  |
//     ...             level l = (sum + 2^(2l-1)) >> 2l, in integers
//
// TILE: 16 (luma, RGBA) or 8 (chroma). CHANNELS: 1, 2 or 4 (only spares work; absent channels read 0 or 1).
layout(local_size_x = 64) in;

layout(binding = 0) uniform usampler2D level0;
layout(binding = 1) writeonly uniform uimage2D level1;
layout(binding = 2) writeonly uniform uimage2D level2;
layout(binding = 3) writeonly uniform uimage2D level3;
layout(binding = 4) writeonly uniform uimage2D level4;

layout(std430, binding = 0) readonly buffer WorkList { uint tiles[]; };  // x | y << 16
layout(std430, binding = 1) writeonly buffer TileSums { uvec2 tile_sums[]; };  // low, high; CHANNELS per tile

layout(location = 0) uniform uint tile_count;
layout(location = 1) uniform uint tile_cols;
layout(location = 2) uniform int levels;  // of the plane, level 0 included

const int BLOCK = TILE / 4;
const int BLOCK_LOG2 = BLOCK == 4 ? 2 : 1;

shared uvec4 sums[64];

uvec4 mean(uvec4 sum, int level) { return (sum + (1u << (2 * level - 1))) >> (2 * level); }

void store(int level, ivec2 at, uvec4 value) {
  if (level >= levels) return;
  if (level == 1) imageStore(level1, at, value);
  if (level == 2) imageStore(level2, at, value);
  if (level == 3) imageStore(level3, at, value);
  if (level == 4) imageStore(level4, at, value);
}

uvec4 quad_sum(ivec2 at) {
  return texelFetch(level0, at, 0) + texelFetch(level0, at + ivec2(1, 0), 0) + texelFetch(level0, at + ivec2(0, 1), 0) +
         texelFetch(level0, at + ivec2(1, 1), 0);
}

uvec4 block_sum(ivec2 origin) {
#if TILE == 16
  uvec4 total = uvec4(0);
  for (int y = 0; y < 4; y += 2) {
    for (int x = 0; x < 4; x += 2) {
      ivec2 at = origin + ivec2(x, y);
      uvec4 quad = quad_sum(at);
      store(1, at >> 1, mean(quad, 1));
      total += quad;
    }
  }
  store(2, origin >> 2, mean(total, 2));
  return total;
#else
  uvec4 total = quad_sum(origin);
  store(1, origin >> 1, mean(total, 1));
  return total;
#endif
}

void main() {
  uint item = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 4u + gl_LocalInvocationID.x / 16u;
  uint thread = gl_LocalInvocationID.x % 16u;
  bool active_item = item < tile_count;
  uint packed_tile = active_item ? tiles[item] : 0u;
  ivec2 tile = ivec2(packed_tile & 0xffffu, packed_tile >> 16);
  ivec2 block = ivec2(thread % 4u, thread / 4u);

  if (active_item) sums[gl_LocalInvocationID.x] = block_sum(tile * TILE + block * BLOCK);
  barrier();

  uint first = gl_LocalInvocationID.x - thread;
  if (active_item && thread < 4u) {
    ivec2 quadrant = ivec2(thread % 2u, thread / 2u);
    uint corner = first + uint(quadrant.y * 8 + quadrant.x * 2);
    uvec4 total = sums[corner] + sums[corner + 1u] + sums[corner + 4u] + sums[corner + 5u];
    store(BLOCK_LOG2 + 1, tile * 2 + quadrant, mean(total, BLOCK_LOG2 + 1));
  }
  if (active_item && thread == 4u) {
    uvec4 total = uvec4(0);
    for (uint i = 0u; i < 16u; ++i) total += sums[first + i];
    store(BLOCK_LOG2 + 2, tile, mean(total, BLOCK_LOG2 + 2));
    uint entry = (uint(tile.y) * tile_cols + uint(tile.x)) * uint(CHANNELS);
    for (int c = 0; c < CHANNELS; ++c) tile_sums[entry + uint(c)] = uvec2(total[c], 0u);
  }
}
