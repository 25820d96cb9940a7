#include "gpu/gl/egl.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace saccade::gl {
namespace {

constexpr EGLint kMaxDevices = 16;

struct Candidate {
  EGLDisplay display = EGL_NO_DISPLAY;
  bool software = false;
  std::string platform;
  int cuda_device = -1;  // -1: none, or the driver does not say
};

bool has_extension(const char* list, std::string_view extension) {
  if (list == nullptr) return false;
  const std::string_view all = list;
  for (std::size_t at = all.find(extension); at != std::string_view::npos; at = all.find(extension, at + 1)) {
    const std::size_t end = at + extension.size();
    if ((at == 0 || all[at - 1] == ' ') && (end == all.size() || all[end] == ' ')) return true;
  }
  return false;
}

template <typename F>
F egl_procedure(const char* name) {
  return reinterpret_cast<F>(eglGetProcAddress(name));
}

// EGL_NV_device_cuda.
int cuda_ordinal(EGLDeviceEXT device, const char* extensions) {
  const auto query = egl_procedure<PFNEGLQUERYDEVICEATTRIBEXTPROC>("eglQueryDeviceAttribEXT");
  EGLAttrib ordinal = -1;
  if (query == nullptr || !has_extension(extensions, "EGL_NV_device_cuda")) return -1;
  return query(device, EGL_CUDA_DEVICE_NV, &ordinal) == EGL_TRUE ? static_cast<int>(ordinal) : -1;
}

void add_devices(std::vector<Candidate>& out) {
  const auto query_devices = egl_procedure<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  const auto query_string = egl_procedure<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
  const auto get_display = egl_procedure<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  if (query_devices == nullptr || query_string == nullptr || get_display == nullptr) return;
  std::array<EGLDeviceEXT, kMaxDevices> devices{};
  EGLint count = 0;
  if (query_devices(kMaxDevices, devices.data(), &count) == EGL_FALSE) return;
  for (EGLint i = 0; i < count; ++i) {
    const EGLDeviceEXT device = devices[static_cast<std::size_t>(i)];
    const char* extensions = query_string(device, EGL_EXTENSIONS);
    out.push_back({get_display(EGL_PLATFORM_DEVICE_EXT, device, nullptr),
                   has_extension(extensions, "EGL_MESA_device_software"), fmt::format("EGL device {}", i),
                   cuda_ordinal(device, extensions)});
  }
}

// Every display worth trying, GPUs first.
std::vector<Candidate> candidates(DeviceChoice choice, int cuda_device) {
  const char* client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  std::vector<Candidate> out;
  if (has_extension(client, "EGL_EXT_platform_device") || has_extension(client, "EGL_EXT_device_base"))
    add_devices(out);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.software < b.software; });
  const auto get_display = egl_procedure<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  if (get_display != nullptr && has_extension(client, "EGL_MESA_platform_surfaceless")) {
    out.push_back({get_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr), true, "EGL surfaceless", -1});
  }
  std::erase_if(out, [choice, cuda_device](const Candidate& c) {
    return c.display == EGL_NO_DISPLAY || (cuda_device >= 0 && c.cuda_device != cuda_device) ||
           (choice == DeviceChoice::kHardware && c.software) || (choice == DeviceChoice::kSoftware && !c.software);
  });
  return out;
}

const char* egl_error() {
  switch (eglGetError()) {
    case EGL_SUCCESS:
      return "EGL_SUCCESS";
    case EGL_NOT_INITIALIZED:
      return "EGL_NOT_INITIALIZED";
    case EGL_BAD_ACCESS:
      return "EGL_BAD_ACCESS";
    case EGL_BAD_ALLOC:
      return "EGL_BAD_ALLOC";
    case EGL_BAD_ATTRIBUTE:
      return "EGL_BAD_ATTRIBUTE";
    case EGL_BAD_CONFIG:
      return "EGL_BAD_CONFIG";
    case EGL_BAD_MATCH:
      return "EGL_BAD_MATCH";
    case EGL_BAD_PARAMETER:
      return "EGL_BAD_PARAMETER";
    default:
      return "an EGL error";
  }
}

struct Handles {
  EGLContext context = EGL_NO_CONTEXT;
  EGLSurface surface = EGL_NO_SURFACE;
};

// lose_on_reset: after the GPU's reset calls give GL_CONTEXT_LOST; without it a driver may draw on, with contents lost.
// Not every driver can tell, and EGL knows it from 1.5 on.
EGLContext create_context(EGLDisplay display, EGLConfig config, bool debug, bool lose_on_reset) {
  std::vector<EGLint> attributes;
  const auto add = [&attributes](EGLint name, EGLint value) { attributes.insert(attributes.end(), {name, value}); };
  add(EGL_CONTEXT_MAJOR_VERSION, 4);
  add(EGL_CONTEXT_MINOR_VERSION, 5);
  add(EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT);
  add(EGL_CONTEXT_OPENGL_DEBUG, debug ? EGL_TRUE : EGL_FALSE);
  if (lose_on_reset) add(EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET);
  attributes.push_back(EGL_NONE);
  return eglCreateContext(display, config, EGL_NO_CONTEXT, attributes.data());
}

// Empty handles and the failed call's name in `failure` when this display gives no 4.5 core context.
Handles open(EGLDisplay display, bool debug, std::string& failure) {
  const auto fail = [&failure](const char* call) {
    failure = fmt::format("{}: {}", call, egl_error());
    return Handles{};
  };
  EGLint major = 0;
  EGLint minor = 0;
  if (eglInitialize(display, &major, &minor) == EGL_FALSE) return fail("eglInitialize");
  if (eglBindAPI(EGL_OPENGL_API) == EGL_FALSE) return fail("eglBindAPI(OpenGL)");
  const std::array<EGLint, 5> config_attributes{EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                                                EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (eglChooseConfig(display, config_attributes.data(), &config, 1, &count) == EGL_FALSE || count == 0) {
    return fail("eglChooseConfig");
  }
  Handles handles;
  if (major > 1 || minor >= 5) handles.context = create_context(display, config, debug, true);
  if (handles.context == EGL_NO_CONTEXT) handles.context = create_context(display, config, debug, false);
  if (handles.context == EGL_NO_CONTEXT) return fail("eglCreateContext(OpenGL 4.5 core)");
  if (!has_extension(eglQueryString(display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context")) {
    const std::array<EGLint, 5> size{EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    handles.surface = eglCreatePbufferSurface(display, config, size.data());
  }
  if (eglMakeCurrent(display, handles.surface, handles.surface, handles.context) == EGL_FALSE) {
    const Handles none = fail("eglMakeCurrent");
    if (handles.surface != EGL_NO_SURFACE) eglDestroySurface(display, handles.surface);
    eglDestroyContext(display, handles.context);
    return none;
  }
  return handles;
}

std::string current_renderer() {
  using GetString = const unsigned char* (*)(unsigned);
  const auto get_string = egl_procedure<GetString>("glGetString");
  const unsigned char* text = get_string == nullptr ? nullptr : get_string(GL_RENDERER);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

}  // namespace

bool is_software_renderer(std::string_view renderer) {
  constexpr std::array<std::string_view, 5> kNames{"llvmpipe", "softpipe", "swrast", "SwiftShader",
                                                   "Software Rasterizer"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [renderer](std::string_view name) { return renderer.find(name) != std::string_view::npos; });
}

std::unique_ptr<EglContext> EglContext::create(DeviceChoice choice, int cuda_device, bool debug) {
  std::string tried;
  for (const Candidate& candidate : candidates(choice, cuda_device)) {
    std::string failure;
    const Handles handles = open(candidate.display, debug, failure);
    if (handles.context != EGL_NO_CONTEXT) {
      std::unique_ptr<EglContext> made(new EglContext);
      made->display_ = candidate.display;
      made->context_ = handles.context;
      made->surface_ = handles.surface;
      made->platform_ = candidate.platform;
      // A GPU's device may hand out a software context when its driver is missing.
      if (choice != DeviceChoice::kHardware || !is_software_renderer(current_renderer())) return made;
      failure = "only a software renderer";
    }
    tried += fmt::format("{}{} ({})", tried.empty() ? "" : ", ", candidate.platform, failure);
  }
  if (cuda_device >= 0) {
    throw GlError(fmt::format("no offscreen OpenGL 4.5 context on CUDA device {}; tried {}. Install the part of "
                              "NVIDIA's driver that has EGL",
                              cuda_device, tried.empty() ? "no EGL device: none says that it is that GPU" : tried),
                  DeviceRemedy::kAvoidGl);
  }
  throw GlError(fmt::format("no offscreen OpenGL 4.5 context; tried {}. Install a GPU driver with EGL, or Mesa's "
                            "software renderer (Debian: libegl1 libgl1-mesa-dri)",
                            tried.empty() ? "no EGL device: none is there" : tried),
                DeviceRemedy::kUseCpu);
}

EglContext::~EglContext() {
  if (eglGetCurrentContext() == context_) eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (surface_ != EGL_NO_SURFACE) eglDestroySurface(display_, surface_);
  eglDestroyContext(display_, context_);
}

void EglContext::make_current() {
  if (eglGetCurrentContext() == context_) return;
  if (eglMakeCurrent(display_, surface_, surface_, context_) == EGL_FALSE) {
    throw GlError(fmt::format("eglMakeCurrent: {}; is the context current on another thread?", egl_error()));
  }
}

EglCurrent::EglCurrent()
    : api_(eglQueryAPI()),
      display_(eglGetCurrentDisplay()),
      context_(eglGetCurrentContext()),
      draw_(eglGetCurrentSurface(EGL_DRAW)),
      read_(eglGetCurrentSurface(EGL_READ)) {}

EglCurrent::~EglCurrent() {
  const EGLDisplay display = eglGetCurrentDisplay();
  const EGLContext context = eglGetCurrentContext();
  const bool same = context == context_ && display == display_;
  if (!same && context_ == EGL_NO_CONTEXT) {
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  } else if (!same) {
    eglMakeCurrent(display_, draw_, read_, context_);
  }
  if (eglQueryAPI() != api_) eglBindAPI(api_);
}

Context::Procedure EglContext::load(const char* name) { return eglGetProcAddress(name); }

}  // namespace saccade::gl
