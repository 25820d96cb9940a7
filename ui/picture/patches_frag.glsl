// The samples of a patch as they were sampled, one block of colour each.
layout(binding = 0) uniform sampler2D samples;  // S x S samples of red, below them green, below them blue; patches side by side

layout(location = 3) uniform int patch_size;
layout(location = 4) uniform int columns;  // patches side by side

layout(location = 0) in vec2 at;
layout(location = 1) flat in uint index;
layout(location = 0) out vec4 fragment;

void main() {
  ivec2 texel = min(ivec2(at * float(patch_size)), ivec2(patch_size - 1));
  texel += ivec2(int(index) % columns * patch_size, int(index) / columns * patch_size * 3);
  for (int c = 0; c < 3; ++c) fragment[c] = texelFetch(samples, texel + ivec2(0, c * patch_size), 0).r;
  fragment.a = 1.0;
}
