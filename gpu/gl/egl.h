// An EGL display and context without a window system.
#pragma once

#include <memory>
#include <string>

#include "gpu/gl/context.h"

namespace saccade::gl {

// Owns an EGLContext (and a pbuffer where the driver has no surfaceless contexts). The display is the process's, shared
// and left initialised: eglTerminate would pull it from under other contexts.
class EglContext {
 public:
  // Tries the EGL devices that `choice` allows, GPUs first, then Mesa's surfaceless platform. Current on return.
  // cuda_device: see ContextConfig.
  static std::unique_ptr<EglContext> create(DeviceChoice choice, int cuda_device, bool debug);
  ~EglContext();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  void make_current();
  const std::string& platform() const { return platform_; }
  static Context::Procedure load(const char* name);

 private:
  EglContext() = default;
  void* display_ = nullptr;
  void* context_ = nullptr;
  void* surface_ = nullptr;
  std::string platform_;
};

// What EGL has current on this thread, for both of its APIs' sake the bound one too. Its destructor brings it back,
// where something else is current by then; a context that is gone is not brought back.
class EglCurrent {
 public:
  EglCurrent();
  ~EglCurrent();
  EglCurrent(const EglCurrent&) = delete;
  EglCurrent& operator=(const EglCurrent&) = delete;

 private:
  unsigned api_;
  void* display_;
  void* context_;
  void* draw_;
  void* read_;
};

// "llvmpipe", "softpipe", "SwiftShader" ...: the CPU draws.
bool is_software_renderer(std::string_view renderer);

}  // namespace saccade::gl
