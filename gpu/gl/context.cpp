#include "gpu/gl/context.h"

#include <fmt/format.h>

#include <cstdlib>
#include <mutex>

#include "gpu/gl/egl.h"

namespace saccade::gl {

struct Context::State {
  std::unique_ptr<EglContext> egl;  // null: adopted
  Capabilities capabilities;
  DebugSink sink;
  std::int64_t errors = 0;
  bool callback_installed = false;
};

namespace {

DebugMessage::Severity severity_of(GLenum severity) {
  switch (severity) {
    case GL_DEBUG_SEVERITY_HIGH:
      return DebugMessage::Severity::kHigh;
    case GL_DEBUG_SEVERITY_MEDIUM:
      return DebugMessage::Severity::kMedium;
    case GL_DEBUG_SEVERITY_LOW:
      return DebugMessage::Severity::kLow;
    default:
      return DebugMessage::Severity::kNote;
  }
}

std::string gl_string(GLenum name) {
  const GLubyte* text = glGetString(name);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

bool listed(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return false;
}

bool masked(const ContextConfig& config, std::string_view word) {
  const char* environment = std::getenv("SACCADE_GL_MASK");
  return listed(config.mask, word) || (environment != nullptr && listed(environment, word));
}

Capabilities query_capabilities(const ContextConfig& config, std::string platform) {
  Capabilities c;
  c.vendor = gl_string(GL_VENDOR);
  c.renderer = gl_string(GL_RENDERER);
  c.version = gl_string(GL_VERSION);
  c.glsl_version = gl_string(GL_SHADING_LANGUAGE_VERSION);
  c.platform = std::move(platform);
  c.software = is_software_renderer(c.renderer);
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &c.max_texture_size);
  glGetIntegerv(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT, &c.storage_buffer_alignment);
  c.persistent_mapping = !masked(config, "persistent");  // core since 4.4
  GLint timestamp_bits = 0;
  glGetQueryiv(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS, &timestamp_bits);
  c.timer_queries = timestamp_bits > 0 && !masked(config, "timer");
  return c;
}

// The functions are the process's: they are looked up once, and again only where another library gives others, so that
// threads with contexts of their own don't write over what others call.
int load_once(Context::LoadProcedure load) {
  static std::mutex mutex;
  static Context::Procedure known = nullptr;
  const std::lock_guard lock(mutex);
  const Context::Procedure probe = load("glGetIntegerv");
  if (probe == nullptr || probe != known) {
    const int version = gladLoadGL(load);
    known = version == 0 ? nullptr : probe;
    return version;
  }
  GLint major = 0;
  GLint minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  return GLAD_MAKE_VERSION(major, minor);
}

void load_functions(Context::LoadProcedure load) {
  const int version = load_once(load);
  if (version == 0) throw GlError("gladLoadGL found no OpenGL: make a context current first");
  if (version < GLAD_MAKE_VERSION(4, 5)) {
    throw GlError(fmt::format("OpenGL {}.{} is too old ({}): version 4.5 is needed; update the driver",
                              GLAD_VERSION_MAJOR(version), GLAD_VERSION_MINOR(version), gl_string(GL_RENDERER)),
                  DeviceRemedy::kUseCpu);
  }
}

// `sink` and `errors` live in Context::State, which outlives the callback.
void report(const DebugSink& sink, std::int64_t& errors, GLenum type, GLenum severity, GLsizei length,
            const GLchar* text) {
  const bool error = type == GL_DEBUG_TYPE_ERROR;
  if (error) ++errors;
  if (!sink) return;
  const std::string_view view = length >= 0 ? std::string_view(text, static_cast<std::size_t>(length)) : text;
  sink({severity_of(severity), error, view});
}

}  // namespace

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::Context(Context&&) noexcept = default;

Context& Context::operator=(Context&& other) noexcept {
  std::swap(state_, other.state_);  // ours dies with `other`
  return *this;
}

Context::~Context() {
  if (state_ != nullptr && state_->callback_installed && state_->egl == nullptr)
    glDebugMessageCallback(nullptr, nullptr);
}

Context Context::offscreen(ContextConfig config) {
  auto egl = EglContext::create(config.device, config.cuda_device, config.debug);
  Context context = adopt(&EglContext::load, std::move(config));
  context.state_->capabilities.platform = egl->platform();
  context.state_->egl = std::move(egl);
  return context;
}

Context Context::adopt(LoadProcedure load, ContextConfig config) {
  load_functions(load);
  auto state = std::make_unique<State>();
  state->capabilities = query_capabilities(config, "adopted");
  state->sink = std::move(config.sink);
  if (config.debug) {
    glEnable(GL_DEBUG_OUTPUT);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DEBUG_SEVERITY_NOTIFICATION, 0, nullptr, GL_FALSE);
    const auto callback = [](GLenum, GLenum type, GLuint, GLenum severity, GLsizei length, const GLchar* text,
                             const void* user) {
      auto* target = static_cast<State*>(const_cast<void*>(user));
      report(target->sink, target->errors, type, severity, length, text);
    };
    glDebugMessageCallback(callback, state.get());
    state->callback_installed = true;
  }
  return Context(std::move(state));
}

void Context::make_current() {
  if (state_->egl != nullptr) state_->egl->make_current();
}

const Capabilities& Context::capabilities() const { return state_->capabilities; }
std::int64_t Context::error_count() const { return state_->errors; }

}  // namespace saccade::gl
