// A quad a patch, coarse ones first: instance n is the patch that `quads[n]` describes.
struct Quad {
  vec2 centre_px;
  float half_px;  // half its side
  uint index;     // in the batch
};
layout(std430, binding = 0) readonly buffer Quads { Quad quads[]; };

layout(location = 0) uniform vec2 origin;  // as in view_frag
layout(location = 1) uniform vec2 scale;
layout(location = 2) uniform vec2 window;  // its size

layout(location = 0) out vec2 at;  // 0..1 of the patch
layout(location = 1) flat out uint index;

void main() {
  Quad quad = quads[gl_InstanceID];
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  index = quad.index;
  vec2 position = origin + (quad.centre_px + (at * 2.0 - 1.0) * quad.half_px) * scale;
  gl_Position = vec4(position.x / window.x * 2.0 - 1.0, 1.0 - position.y / window.y * 2.0, 0.0, 1.0);
}
