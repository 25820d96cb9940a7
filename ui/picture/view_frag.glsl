// The views that are drawn straight from the pyramid's textures: one colour a pixel of the window.
//
// YUV: 1 for luma and chroma planes, 0 for one RGBA plane. VIEW: which view, as ui::View. NEAREST: 1 to enlarge with
// hard edges. A program each, because a software renderer runs both sides of a branch. Positions are continuous level-0
// luma pixels, see Note [Sample positions] in sampling.h; here the texture unit filters, with 8-bit weights.
#include "color.h"
#include "fovea.h"

const int view = VIEW;
// As ui::View.
const int kHeld = 1, kError = 2, kWeights = 3, kFoveated = 4, kLevel = 5, kLod = 6, kDamage = 7, kSplit = 9;
const float kTilePx = 16.0;
const float kUnseen = 128.0 / 255.0;  // grey, as `paint` has it

layout(binding = 0) uniform sampler2D plane0;
#if YUV
layout(binding = 1) uniform sampler2D plane1;
#endif
layout(binding = 2) uniform sampler2D tiles;  // a texel a tile. Damage: 1 damaged now, 0 long ago. Else: 0 nothing there
layout(binding = 3) uniform sampler2D held;   // the receiver's picture, a texel a pixel of the frame

layout(std140, binding = 0) uniform Params {
  ColorParams color;
  FoveaParams fovea;
  vec2 fixation_px;
  vec2 site_shift;    // in chroma texels of level 0
  vec2 origin;        // of the picture's top-left corner in the window's pixels, y down
  vec2 scale;         // window pixels a picture pixel
  vec2 plane0_texel;  // 1 / texels of level 0
  vec2 plane1_texel;
  vec4 heat_stops[5];
  float window_height;
  float shrink_lod;   // where the picture is drawn smaller than it is
  float level;
  float seam_px;      // of view split, in the window's pixels
  float lod_range;    // what the last colour of the heat map stands for
  float pad0, pad1, pad2;
};

layout(location = 0) out vec4 fragment;

vec3 rgb_at(vec2 at_px, float lod) {
#if NEAREST
  float size = exp2(floor(lod));
  at_px = (floor(at_px / size) + 0.5) * size;
#endif
  vec4 first = textureLod(plane0, at_px * plane0_texel, lod);
#if YUV
  vec2 chroma = textureLod(plane1, (at_px * 0.5 + site_shift) * plane1_texel, chroma_lod(lod)).xy;
  Rgb rgb = ycbcr_to_rgb(first.x, chroma.x, chroma.y, color);
  return vec3(rgb.r, rgb.g, rgb.b);
#else
  return first.rgb;
#endif
}

float gray_at(vec2 at_px) { return dot(rgb_at(at_px, shrink_lod), vec3(0.2126, 0.7152, 0.0722)); }

vec3 heat(float t) {
  float at = clamp(t, 0.0, 1.0) * 4.0;
  int low = min(int(at), 3);
  return mix(heat_stops[low].rgb, heat_stops[low + 1].rgb, at - float(low));
}

vec3 lod_map(vec2 at_px, float e) {
  float raw = log2((e + fovea.e0) / fovea.m0);
  vec3 tint = heat(level_of_detail(e, fovea) / lod_range) * (0.35 + 0.65 * gray_at(at_px));
  float whole = round(raw);
  float line = 1.0 - smoothstep(0.6, 1.6, abs(raw - whole) / max(fwidth(raw), 1e-6));
  return whole >= 1.0 && whole <= fovea.max_lod ? mix(tint, vec3(1.0), line * 0.85) : tint;
}

vec3 damage_map(vec2 at_px) {
  vec2 tile = floor(at_px / kTilePx);
  float fresh = texelFetch(tiles, ivec2(tile), 0).r;
  vec3 under = rgb_at(at_px, shrink_lod);
  under = mix(under, vec3(dot(under, vec3(0.2126, 0.7152, 0.0722))), 0.6) * 0.6;
  vec2 in_tile = (at_px - tile * kTilePx) * scale;
  float edge = min(in_tile.x, in_tile.y) < 1.0 ? 1.0 : 0.0;
  vec3 tint = mix(vec3(0.75, 0.10, 0.15), vec3(1.0, 0.85, 0.30), fresh);
  return mix(under, tint, fresh * (0.45 + 0.35 * edge));
}

// Errors and weights: the bytes from 1 to 255 are the heat map's colours.
vec3 tile_map(vec2 at_px) {
  float shade = texelFetch(tiles, ivec2(at_px / kTilePx), 0).r * 255.0;
  float gray = gray_at(at_px);
  return shade < 0.5 ? vec3(gray * 0.3) : heat((shade - 1.0) / 254.0) * (0.5 + 0.5 * gray);
}

vec3 held_at(vec2 at_px) {
  if (texelFetch(tiles, ivec2(at_px / kTilePx), 0).r == 0.0) return vec3(kUnseen);
  return textureLod(held, at_px / vec2(textureSize(held, 0)), shrink_lod).rgb;
}

void main() {
  vec2 window = vec2(gl_FragCoord.x, window_height - gl_FragCoord.y);
  vec2 at_px = (window - origin) / scale;
  float e = eccentricity(at_px.x, at_px.y, fixation_px.x, fixation_px.y, fovea);
  float lod = shrink_lod;
  if (view == kFoveated || (view == kSplit && window.x >= seam_px)) lod = max(lod, level_of_detail(e, fovea));
  if (view == kLevel) lod = level;
  vec3 rgb;
  if (view == kLod) {
    rgb = lod_map(at_px, e);
  } else if (view == kDamage) {
    rgb = damage_map(at_px);
  } else if (view == kError || view == kWeights) {
    rgb = tile_map(at_px);
  } else if (view == kHeld) {
    rgb = held_at(at_px);
  } else {
    rgb = rgb_at(at_px, lod);
  }
  if (view == kSplit && abs(window.x - seam_px) < 1.0) rgb = vec3(1.0);
  fragment = vec4(rgb, 1.0);
}
