// An OpenGL 4.5 core context: made offscreen through EGL, or adopted from a window library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gpu/gl/objects.h"

namespace saccade::gl {

struct DebugMessage {
  enum class Severity : std::uint8_t { kNote, kLow, kMedium, kHigh };
  Severity severity = Severity::kNote;
  bool error = false;     // GL_DEBUG_TYPE_ERROR: a call of ours was wrong
  std::string_view text;  // valid during the call only
};
using DebugSink = std::function<void(const DebugMessage&)>;

enum class DeviceChoice : std::uint8_t {
  kAuto,      // a GPU, else the software renderer
  kHardware,  // a GPU or an error
  kSoftware,  // Mesa's software renderer or an error
};

struct ContextConfig {
  DeviceChoice device = DeviceChoice::kAuto;
  int cuda_device = -1;  // 0 and up: only the GPU with this CUDA ordinal, so that CUDA can use the context's textures
  bool debug = true;     // ask for a debug context; messages come on the owning thread, inside the call they are about
  DebugSink sink;        // may be empty: errors are counted all the same
  // Fast paths to leave unused, as a comma list of "persistent", "timer"; SACCADE_GL_MASK in the
  // environment adds to it.
  std::string mask;
};

// What the context can do, after masking.
struct Capabilities {
  std::string vendor, renderer, version, glsl_version;
  std::string platform;  // "EGL device 0", "EGL surfaceless", "adopted"
  int max_texture_size = 0;
  int storage_buffer_alignment = 256;  // of glBindBufferRange offsets
  bool software = false;               // the CPU draws: a pixel buffer would only cost a copy
  bool persistent_mapping = false;     // buffers stay mapped while GL uses them
  bool timer_queries = false;          // GL_TIMESTAMP counts
};

// Owns the context; the thread that made it (or moved to it with make_current) is the only one that may use it and
// everything created in it. Move-only; destroy what lives in it first.
class Context {
 public:
  using Procedure = void (*)();
  using LoadProcedure = Procedure (*)(const char* name);

  // Needs no display server. Throws GlError that lists what was tried.
  static Context offscreen(ContextConfig config = {});
  // The caller made a context current and keeps owning it (GLFW: glfwGetProcAddress). Throws when it is older than 4.5.
  static Context adopt(LoadProcedure load, ContextConfig config = {});

  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  ~Context();

  void make_current();  // a no-op for an adopted context
  const Capabilities& capabilities() const;
  std::int64_t error_count() const;  // GL errors the debug callback has seen

 private:
  struct State;
  explicit Context(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace saccade::gl
