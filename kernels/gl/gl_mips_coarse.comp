// One level above the tiles, of one plane: a texel is the mean of 2^k x 2^k tiles, from the exact sums of its four
// children. One thread a texel. Sums are 64 bits as (low, high): 16-bit samples pass 32 bits at level 9.
// CHANNELS: 1, 2 or 4.
layout(local_size_x = 64) in;

layout(binding = 0) writeonly uniform uimage2D target;

layout(std430, binding = 0) readonly buffer WorkList { uint texels[]; };  // x | y << 16
layout(std430, binding = 1) buffer Sums { uvec2 sums[]; };                // all coarse levels of the plane, tiles first

layout(location = 0) uniform uint first_item;  // in the work list
layout(location = 1) uniform uint item_count;
layout(location = 2) uniform uint child_base;  // first entry of the children's level, in (texel, channel) pairs
layout(location = 3) uniform uint child_cols;
layout(location = 4) uniform uint own_base;
layout(location = 5) uniform uint own_cols;
layout(location = 6) uniform int level;  // of the plane: 4 or more

uvec2 add64(uvec2 a, uvec2 b) {
  uint carry;
  uint low = uaddCarry(a.x, b.x, carry);
  return uvec2(low, a.y + b.y + carry);
}

// (sum + 2^(2 level - 1)) >> (2 level): at most 16 bits; 2 level <= 30.
uint mean64(uvec2 sum) {
  int shift = 2 * level;
  uvec2 rounded = add64(sum, uvec2(1u << (shift - 1), 0u));
  return (rounded.x >> shift) | (rounded.y << (32 - shift));
}

void main() {
  uint item = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationID.x;
  if (item >= item_count) return;
  uint packed_texel = texels[first_item + item];
  uvec2 at = uvec2(packed_texel & 0xffffu, packed_texel >> 16);
  uint child = child_base + (at.y * 2u * child_cols + at.x * 2u) * uint(CHANNELS);
  uint below = child + child_cols * uint(CHANNELS);
  uint own = own_base + (at.y * own_cols + at.x) * uint(CHANNELS);
  uvec4 value = uvec4(0u);
  for (uint c = 0u; c < uint(CHANNELS); ++c) {
    uvec2 top = add64(sums[child + c], sums[child + uint(CHANNELS) + c]);
    uvec2 bottom = add64(sums[below + c], sums[below + uint(CHANNELS) + c]);
    uvec2 total = add64(top, bottom);
    sums[own + c] = total;
    value[c] = mean64(total);
  }
  imageStore(target, ivec2(at), value);
}
