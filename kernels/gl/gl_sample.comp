// Foveated patches: trilinear samples of the planes, then the colour matrix; Note [Sample positions] in sampling.h.
// A thread makes 4 consecutive samples of one patch, all three channels, and packs them into whole words.
//
//   samples[]: patch n, channel c, sample i = j * S + column, each channel's S * S samples padded to a multiple of 4
//
// YUV: 1 for luma and chroma planes, 0 for one RGBA plane. Texels are read as integer codes, so that the arithmetic is the
// CPU's. SAMPLE_TYPE: 0 u8, 1 f16, 2 f32.
#include "color.h"
#include "sampling.h"
#include "taps.h"

layout(local_size_x = 64) in;

layout(binding = 0) uniform usampler2D plane0;
#if YUV
layout(binding = 1) uniform usampler2D plane1;
#endif

struct SampleParams {
  ColorParams color;
  float site_shift_x;
  float site_shift_y;
  uint patch_size;
  uint patch_count;
  vec4 mean;     // r, g, b, unused
  vec4 inv_std;  // r, g, b, unused
};

struct GpuPatch {
  float x_px;
  float y_px;
  float pitch_px;
  float coverage;
  int level;  // of plane 0: floor(lod)
  float level_fraction;
  int chroma_level;
  float chroma_level_fraction;
};

layout(std430, binding = 0) readonly buffer Plan {
  SampleParams params;
  GpuPatch patches[];
};
layout(std430, binding = 1) writeonly buffer Samples { uint words[]; };

vec4 bilinear(usampler2D plane, int level, vec2 at) {
  // Each level is exactly half of the one above. Asking for the size of `level` itself fails on llvmpipe where patches of
  // different levels share a SIMD vector: it answers for one of them.
  ivec2 size = textureSize(plane, 0) >> level;
  AxisTap x = axis_tap(at.x, size.x);
  AxisTap y = axis_tap(at.y, size.y);
  vec4 a = vec4(texelFetch(plane, ivec2(x.first, y.first), level));
  vec4 b = vec4(texelFetch(plane, ivec2(x.second, y.first), level));
  vec4 c = vec4(texelFetch(plane, ivec2(x.first, y.second), level));
  vec4 d = vec4(texelFetch(plane, ivec2(x.second, y.second), level));
  vec4 top = a + (b - a) * x.weight;
  vec4 bottom = c + (d - c) * x.weight;
  return top + (bottom - top) * y.weight;
}

vec2 texel_at(vec2 position_px, float plane_scale, vec2 shift, int level) {
  float unit = level_scale(level);
  return vec2(texel_coordinate(position_px.x, plane_scale, shift.x, unit),
              texel_coordinate(position_px.y, plane_scale, shift.y, unit));
}

vec4 trilinear(usampler2D plane, vec2 position_px, float plane_scale, vec2 shift, int level, float fraction) {
  vec4 fine = bilinear(plane, level, texel_at(position_px, plane_scale, shift, level));
  if (fraction == 0.0) return fine;
  int next = min(level + 1, textureQueryLevels(plane) - 1);
  vec4 coarse = bilinear(plane, next, texel_at(position_px, plane_scale, shift, next));
  return fine + (coarse - fine) * fraction;
}

// R'G'B', 0..1.
vec3 sample_rgb(vec2 position_px, GpuPatch patch_) {
  vec4 first = trilinear(plane0, position_px, 1.0, vec2(0.0), patch_.level, patch_.level_fraction);
#if YUV
  vec2 shift = vec2(params.site_shift_x, params.site_shift_y);
  vec4 chroma = trilinear(plane1, position_px, 0.5, shift, patch_.chroma_level, patch_.chroma_level_fraction);
  Rgb rgb = ycbcr_to_rgb(first.x, chroma.x, chroma.y, params.color);
  return vec3(rgb.r, rgb.g, rgb.b);
#else
  return first.rgb / 255.0;
#endif
}

void store(uint base, vec4 values) {
#if SAMPLE_TYPE == 0
  uvec4 codes = uvec4(floor(values * 255.0 + 0.5));
  words[base] = codes.x | codes.y << 8 | codes.z << 16 | codes.w << 24;
#elif SAMPLE_TYPE == 1
  words[base * 2u] = packHalf2x16(values.xy);
  words[base * 2u + 1u] = packHalf2x16(values.zw);
#else
  for (uint i = 0u; i < 4u; ++i) words[base * 4u + i] = floatBitsToUint(values[i]);
#endif
}

void main() {
  uint item = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationID.x;
  uint size = params.patch_size;
  uint quads = (size * size + 3u) / 4u;
  uint n = item / quads;
  if (n >= params.patch_count) return;
  uint quad = item - n * quads;
  GpuPatch patch_ = patches[n];
  vec4 r = vec4(0.0);
  vec4 g = vec4(0.0);
  vec4 b = vec4(0.0);
  if (patch_.coverage > 0.0) {
    for (uint i = 0u; i < 4u; ++i) {
      uint index = min(quad * 4u + i, size * size - 1u);
      float x = sample_position_px(patch_.x_px, int(index % size), int(size), patch_.pitch_px);
      float y = sample_position_px(patch_.y_px, int(index / size), int(size), patch_.pitch_px);
      vec3 rgb = sample_rgb(vec2(x, y), patch_);
      r[i] = rgb.r;
      g[i] = rgb.g;
      b[i] = rgb.b;
    }
  }
#if SAMPLE_TYPE != 0
  r = (r - params.mean.r) * params.inv_std.r;
  g = (g - params.mean.g) * params.inv_std.g;
  b = (b - params.mean.b) * params.inv_std.b;
#endif
  uint base = n * 3u * quads + quad;
  store(base, r);
  store(base + quads, g);
  store(base + 2u * quads, b);
}
