#include "gpu/gl/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace saccade::gl {
namespace {

// A driver gives up by itself after about 20, and what it then reads is black.
constexpr std::chrono::seconds kHung{10};
constexpr int kMaxStaleErrors = 32;  // a lost context may report errors for ever

GLuint require_name(GLuint name, const char* call) {
  if (name == 0)
    throw GlError(fmt::format("{} gave no object: is an OpenGL 4.5 context current on this thread?", call));
  return name;
}

GLuint create_texture() {
  GLuint name = 0;
  glCreateTextures(GL_TEXTURE_2D, 1, &name);
  return require_name(name, "glCreateTextures");
}

GLuint generate_texture() {
  GLuint name = 0;
  glGenTextures(1, &name);  // a view takes a name that was never bound
  return require_name(name, "glGenTextures");
}

GLuint create_buffer() {
  GLuint name = 0;
  glCreateBuffers(1, &name);
  return require_name(name, "glCreateBuffers");
}

GLuint create_query(GLenum target) {
  GLuint name = 0;
  glCreateQueries(target, 1, &name);
  return require_name(name, "glCreateQueries");
}

GLuint create_vertex_array() {
  GLuint name = 0;
  glCreateVertexArrays(1, &name);
  return require_name(name, "glCreateVertexArrays");
}

GLuint create_framebuffer() {
  GLuint name = 0;
  glCreateFramebuffers(1, &name);
  return require_name(name, "glCreateFramebuffers");
}

// A shader lives only while its program is linked.
struct ShaderGuard {
  GLuint name = 0;
  explicit ShaderGuard(GLenum stage) : name(require_name(glCreateShader(stage), "glCreateShader")) {}
  ShaderGuard(const ShaderGuard&) = delete;
  ShaderGuard& operator=(const ShaderGuard&) = delete;
  ~ShaderGuard() { glDeleteShader(name); }
};

std::string shader_log(GLuint shader) {
  GLint length = 0;
  glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(std::max(length, 1)), '\0');
  glGetShaderInfoLog(shader, length, nullptr, log.data());
  return log.c_str();
}

std::string program_log(GLuint program) {
  GLint length = 0;
  glGetProgramiv(program, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(std::max(length, 1)), '\0');
  glGetProgramInfoLog(program, length, nullptr, log.data());
  return log.c_str();
}

void compile_into(GLuint program, std::string_view label, const ShaderSource& source) {
  const ShaderGuard shader(source.stage);
  const char* text = source.text.data();
  const auto length = static_cast<GLint>(source.text.size());
  glShaderSource(shader.name, 1, &text, &length);
  glCompileShader(shader.name);
  GLint compiled = GL_FALSE;
  glGetShaderiv(shader.name, GL_COMPILE_STATUS, &compiled);
  if (compiled == GL_FALSE) throw GlError(fmt::format("glCompileShader({}): {}", label, shader_log(shader.name)));
  glAttachShader(program, shader.name);  // the program keeps it alive
}

}  // namespace

const char* error_name(GLenum error) {
  switch (error) {
    case GL_NO_ERROR:
      return "GL_NO_ERROR";
    case GL_INVALID_ENUM:
      return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE:
      return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION:
      return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION:
      return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY:
      return "GL_OUT_OF_MEMORY";
    case GL_CONTEXT_LOST:
      return "GL_CONTEXT_LOST";
    default:
      return "unknown GL error";
  }
}

void forget_errors() {
  for (int i = 0; i < kMaxStaleErrors && glGetError() != GL_NO_ERROR; ++i) {
  }
}

void check(const char* call) {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return;
  forget_errors();
  throw GlError(fmt::format("{} failed: {}", call, error_name(error)),
                error == GL_OUT_OF_MEMORY ? DeviceRemedy::kLessMemory : DeviceRemedy::kNone);
}

Texture::Texture(GLenum internal_format, int width, int height, int levels)
    : Object(create_texture(), Ownership::kOwned) {
  glTextureStorage2D(name(), levels, internal_format, width, height);
  check("glTextureStorage2D");
}

Texture Texture::view_of(const Texture& storage, GLenum internal_format, int levels) {
  Texture view(generate_texture(), Ownership::kOwned);
  glTextureView(view.name(), GL_TEXTURE_2D, storage.name(), internal_format, 0, static_cast<GLuint>(levels), 0, 1);
  check("glTextureView");
  return view;
}

Buffer::Buffer(std::int64_t size_bytes, GLbitfield flags, const void* data)
    : Object(create_buffer(), Ownership::kOwned) {
  glNamedBufferStorage(name(), static_cast<GLsizeiptr>(size_bytes), data, flags);
  check("glNamedBufferStorage");
}

Program::Program(std::string_view label, std::initializer_list<ShaderSource> sources)
    : Object(require_name(glCreateProgram(), "glCreateProgram"), Ownership::kOwned) {
  for (const ShaderSource& source : sources) compile_into(name(), label, source);
  glLinkProgram(name());
  GLint linked = GL_FALSE;
  glGetProgramiv(name(), GL_LINK_STATUS, &linked);
  if (linked == GL_FALSE) throw GlError(fmt::format("glLinkProgram({}): {}", label, program_log(name())));
}

Query::Query(GLenum target) : Object(create_query(target), Ownership::kOwned) {}

VertexArray VertexArray::create() { return VertexArray(create_vertex_array(), Ownership::kOwned); }

Framebuffer::Framebuffer(const Texture& color, int level) : Object(create_framebuffer(), Ownership::kOwned) {
  glNamedFramebufferTexture(name(), GL_COLOR_ATTACHMENT0, color.name(), level);
  const GLenum status = glCheckNamedFramebufferStatus(name(), GL_FRAMEBUFFER);
  if (status != GL_FRAMEBUFFER_COMPLETE) {
    throw GlError(fmt::format("glNamedFramebufferTexture: this texture cannot be drawn to (status 0x{:x})", status));
  }
}

Sync Sync::fence() {
  GLsync handle = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  if (handle == nullptr) throw GlError(fmt::format("glFenceSync failed: {}", error_name(glGetError())));
  return Sync(handle, Ownership::kOwned);
}

Sync::Sync(Sync&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), ownership_(other.ownership_) {}

Sync& Sync::operator=(Sync&& other) noexcept {
  if (this != &other) {
    reset();
    handle_ = std::exchange(other.handle_, nullptr);
    ownership_ = other.ownership_;
  }
  return *this;
}

bool Sync::wait(std::chrono::nanoseconds timeout) const {
  if (handle_ == nullptr) return true;
  const GLenum result = glClientWaitSync(handle_, GL_SYNC_FLUSH_COMMANDS_BIT,
                                         static_cast<GLuint64>(std::max<std::int64_t>(timeout.count(), 0)));
  return result == GL_ALREADY_SIGNALED || result == GL_CONDITION_SATISFIED;
}

void Sync::finish(const char* work) const {
  if (wait(kHung)) return;
  throw GlError(
      fmt::format("{}: the GPU did not finish within {} s: it hangs, or the context is lost (error {}, reset "
                  "status 0x{:x}); restart the program, or the machine if that does not help",
                  work, kHung.count(), error_name(glGetError()), glGetGraphicsResetStatus()));
}

void Sync::reset() {
  if (handle_ != nullptr && ownership_ == Ownership::kOwned) glDeleteSync(handle_);
  handle_ = nullptr;
}

}  // namespace saccade::gl
