// Move-only owners of GL objects. Each holds one name; a default-constructed or moved-from owner holds 0 and may only
// be assigned to or destroyed. wrap(), of buffers and fences, borrows a foreign name and never deletes it; release()
// gives ownership up. Calls need the context current on this thread. Constructors throw GlError, destructors nothing.
#pragma once

#include <glad/gl.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "gpu/device_error.h"

namespace saccade::gl {

// A failed setup call: the message names the call and what GL said.
class GlError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// Throws GlError("call: GL_...") where glGetError() reports an error. That can stall on the driver's thread: check once
// per batch of calls. Call forget_errors() before the batch, or it is blamed for errors that earlier calls left.
void check(const char* call);
void forget_errors();
const char* error_name(GLenum error);  // "GL_INVALID_ENUM" ...

enum class Ownership : std::uint8_t { kOwned, kBorrowed };

// What all owners share. Traits::destroy(GLuint) deletes a name.
template <typename Traits>
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  Object(Object&& other) noexcept : name_(std::exchange(other.name_, 0)), ownership_(other.ownership_) {}
  Object& operator=(Object&& other) noexcept {
    if (this != &other) {
      reset();
      name_ = std::exchange(other.name_, 0);
      ownership_ = other.ownership_;
    }
    return *this;
  }
  ~Object() { reset(); }

  GLuint name() const { return name_; }
  explicit operator bool() const { return name_ != 0; }
  GLuint release() { return std::exchange(name_, 0); }

 protected:
  Object(GLuint name, Ownership ownership) : name_(name), ownership_(ownership) {}
  void reset() {
    if (name_ != 0 && ownership_ == Ownership::kOwned) Traits::destroy(name_);
    name_ = 0;
  }

 private:
  GLuint name_ = 0;
  Ownership ownership_ = Ownership::kOwned;
};

struct TextureTraits {
  static void destroy(GLuint name) { glDeleteTextures(1, &name); }
};
struct BufferTraits {
  static void destroy(GLuint name) { glDeleteBuffers(1, &name); }
};
struct ProgramTraits {
  static void destroy(GLuint name) { glDeleteProgram(name); }
};
struct QueryTraits {
  static void destroy(GLuint name) { glDeleteQueries(1, &name); }
};
struct VertexArrayTraits {
  static void destroy(GLuint name) { glDeleteVertexArrays(1, &name); }
};
struct FramebufferTraits {
  static void destroy(GLuint name) { glDeleteFramebuffers(1, &name); }
};

// An immutable 2D texture (glTextureStorage2D), or a view of one with another format of the same size class.
class Texture : public Object<TextureTraits> {
 public:
  Texture() = default;
  Texture(GLenum internal_format, int width, int height, int levels);
  static Texture view_of(const Texture& storage, GLenum internal_format, int levels);
  void set_parameter(GLenum parameter, GLint value) { glTextureParameteri(name(), parameter, value); }

 private:
  using Object::Object;
};

// An immutable buffer (glNamedBufferStorage). Throws when out of memory.
class Buffer : public Object<BufferTraits> {
 public:
  Buffer() = default;
  Buffer(std::int64_t size_bytes, GLbitfield flags, const void* data = nullptr);
  static Buffer wrap(GLuint name) { return Buffer(name, Ownership::kBorrowed); }

 private:
  using Object::Object;
};

struct ShaderSource {
  GLenum stage = GL_COMPUTE_SHADER;
  std::string_view text;  // whole, with its #version line
};

// A linked program. Throws GlError with `label` and the compiler's log.
class Program : public Object<ProgramTraits> {
 public:
  Program() = default;
  Program(std::string_view label, std::initializer_list<ShaderSource> sources);
  void use() const { glUseProgram(name()); }
};

class Query : public Object<QueryTraits> {
 public:
  Query() = default;
  explicit Query(GLenum target);  // GL_TIME_ELAPSED, GL_TIMESTAMP ...
};

class VertexArray : public Object<VertexArrayTraits> {
 public:
  VertexArray() = default;
  static VertexArray create();
  void bind() const { glBindVertexArray(name()); }

 private:
  using Object::Object;
};

// One colour attachment. Throws when the attachment cannot be drawn to.
class Framebuffer : public Object<FramebufferTraits> {
 public:
  Framebuffer() = default;
  Framebuffer(const Texture& color, int level);
  void bind() const { glBindFramebuffer(GL_FRAMEBUFFER, name()); }
};

// A fence: signalled when all commands before it have finished. A default-constructed one counts as signalled.
class Sync {
 public:
  Sync() = default;
  static Sync fence();  // throws GlError where the context is lost
  static Sync wrap(GLsync handle) { return Sync(handle, Ownership::kBorrowed); }
  Sync(const Sync&) = delete;
  Sync& operator=(const Sync&) = delete;
  Sync(Sync&& other) noexcept;
  Sync& operator=(Sync&& other) noexcept;
  ~Sync() { reset(); }

  // Flushes, so that waiting ends. False also when the context is lost.
  bool signaled() const { return wait(std::chrono::nanoseconds{0}); }
  // Waits until it is. Throws GlError that names `work` where the GPU hangs (10 s) or the context is lost.
  void finish(const char* work) const;
  GLsync handle() const { return handle_; }
  GLsync release() { return std::exchange(handle_, nullptr); }
  void reset();

 private:
  Sync(GLsync handle, Ownership ownership) : handle_(handle), ownership_(ownership) {}
  bool wait(std::chrono::nanoseconds timeout) const;
  GLsync handle_ = nullptr;
  Ownership ownership_ = Ownership::kOwned;
};

}  // namespace saccade::gl
