// The C interface as C++17: owners that free, errors that are thrown. Header only; saccade.h and tensor.h say what
// each call does, and which thread may make it.
#ifndef SACCADE_SACCADE_HPP
#define SACCADE_SACCADE_HPP

#include <saccade/saccade.h>
#include <saccade/tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace saccade {
inline namespace v0 {

// what() is the message alone; hint() is what to try, option() the name of the option that it is about: often empty.
class Error : public std::runtime_error {
 public:
  Error(saccade_status status, const std::string& message, std::string hint, saccade_hint code = SACCADE_HINT_NONE,
        std::string option = {})
      : std::runtime_error(message), status_(status), hint_(std::move(hint)), code_(code), option_(std::move(option)) {}
  saccade_status status() const { return status_; }
  const std::string& hint() const { return hint_; }
  saccade_hint hint_code() const { return code_; }
  const std::string& option() const { return option_; }

 private:
  saccade_status status_;
  std::string hint_;
  saccade_hint code_;
  std::string option_;
};

// Throws Error for an error, which must be this thread's last.
inline saccade_status check(saccade_status status) {
  if (status < 0) {
    throw Error(status, saccade_last_error(), saccade_last_error_hint(), saccade_last_error_hint_code(),
                saccade_last_error_option(nullptr));
  }
  return status;
}

// A struct of the C interface with its size filled in.
template <typename Struct>
Struct make() {
  Struct out{};
  out.struct_size = sizeof(Struct);
  return out;
}

using LogFunction = std::function<void(saccade_log_level level, std::string_view line)>;

class Options {
 public:
  Options() : handle_(saccade_options_new()) {
    if (!handle_) throw std::bad_alloc();
  }

  Options& set(const std::string& name, const std::string& text) {
    check(saccade_options_set(handle_.get(), name.c_str(), text.c_str()));
    return *this;
  }
  std::string get(const std::string& name) {
    const char* text = nullptr;
    check(saccade_options_get(handle_.get(), name.c_str(), &text));
    return text;
  }
  // The function is kept by these options and by the streams made from them. It must not throw.
  // An empty one takes the function away.
  Options& set_log(saccade_log_level least, LogFunction function) {
    auto log = function ? std::make_shared<LogFunction>(std::move(function)) : nullptr;
    check(saccade_options_set_log(handle_.get(), least, log ? &Options::write : nullptr, log.get()));
    log_ = std::move(log);
    return *this;
  }
  const saccade_options* handle() const { return handle_.get(); }
  std::shared_ptr<const LogFunction> log() const { return log_; }

 private:
  static void write(void* user, saccade_log_level level, const char* line) {
    (*static_cast<const LogFunction*>(user))(level, line);
  }
  struct Free {
    void operator()(saccade_options* options) const { saccade_options_free(options); }
  };
  std::unique_ptr<saccade_options, Free> handle_;
  std::shared_ptr<LogFunction> log_;
};

#if __cplusplus >= 202002L
template <typename T>
using Span = std::span<const T>;
#else
// As much of std::span as emissions need.
template <typename T>
class Span {
 public:
  Span(const T* data, std::size_t size) : data_(data), size_(size) {}
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  const T* data_;
  std::size_t size_;
};
#endif

// Owns its memory until it is destroyed, also beyond its stream. Spans and pointers live as long.
class Emission {
 public:
  explicit Emission(saccade_emission* handle) : handle_(handle), view_(make<saccade_emission_view>()) {
    check(saccade_emission_get(handle_.get(), &view_));
  }
  Span<std::byte> patches() const { return {static_cast<const std::byte*>(view_.patches), view_.patches_bytes}; }
  Span<float> geometry() const { return {view_.geometry, 4 * count()}; }  // u, v, lod, coverage of each patch
  Span<std::uint8_t> changed() const { return {view_.changed, count()}; }
  std::size_t count() const { return static_cast<std::size_t>(view_.patch_count); }
  std::int64_t frame() const { return view_.frame; }
  std::int64_t pts_ns() const { return view_.pts_ns; }
  const saccade_emission_view& view() const { return view_; }  // these, and all else

 private:
  struct Release {
    void operator()(saccade_emission* emission) const { saccade_emission_release(emission); }
  };
  std::unique_ptr<saccade_emission, Release> handle_;
  saccade_emission_view view_;
};

class Stream {
 public:
  explicit Stream(const Options& options = {}) : log_(options.log()) {
    saccade_stream* handle = nullptr;
    check(saccade_stream_new(options.handle(), &handle));
    handle_.reset(handle);
  }
  explicit Stream(const std::string& uri, const Options& options = {}) : Stream(options) { open(uri); }
  Stream(Stream&&) = default;
  Stream& operator=(Stream&& other) noexcept {
    handle_ = std::move(other.handle_);  // the old handle goes before the function that it calls
    log_ = std::move(other.log_);
    return *this;
  }

  void open(const std::string& uri) { check(saccade_stream_open(handle_.get(), uri.c_str())); }
  void interrupt() { check(saccade_stream_interrupt(handle_.get())); }  // any thread
  void look(float u, float v) { check(saccade_stream_look(handle_.get(), u, v)); }
  // [height][width] weights over the frame; nullptr: the scanpath's again.
  void attend(const float* map, int height, int width) {
    check(saccade_stream_attend(handle_.get(), map, height, width, nullptr));
  }
  // Rows of t_s, u, v; from the next open() on.
  void set_scanpath(const std::vector<double>& t_u_v) {
    check(saccade_stream_set_scanpath(handle_.get(), t_u_v.data(), t_u_v.size() / 3));
  }
  // Frames of the caller's in place of a source. push() says whether patches are due: next() gives them.
  void open_frames(const saccade_frame_format& format) { check(saccade_stream_open_frames(handle_.get(), &format)); }
  bool push(const saccade_frame& frame) {
    std::int32_t due = 0;
    check(saccade_stream_push(handle_.get(), &frame, &due));
    return due != 0;
  }
  void push_end() { check(saccade_stream_push_end(handle_.get())); }

  // Empty at the stream's end: while (auto emission = stream.next()) ...
  std::optional<Emission> next() {
    std::optional<Emission> emission;
    next(-1, emission);
    return emission;
  }
  // SACCADE_OK with an emission; SACCADE_LATER and SACCADE_END without.
  saccade_status next(std::int64_t timeout_ms, std::optional<Emission>& out) {
    out.reset();
    saccade_emission* emission = nullptr;
    const saccade_status status = check(saccade_stream_next(handle_.get(), timeout_ms, &emission));
    if (emission != nullptr) out.emplace(emission);
    return status;
  }

  // next() into the caller's memory; `out` gets the rest.
  saccade_status next_into(std::int64_t timeout_ms, const saccade_target& target, saccade_emission_view& out) {
    return check(saccade_stream_next_into(handle_.get(), timeout_ms, &target, &out));
  }

  saccade_stream_info info() const { return get<saccade_stream_info>(saccade_stream_get_info); }
  saccade_geometry geometry() const { return get<saccade_geometry>(saccade_stream_get_geometry); }
  saccade_counters counters() const { return get<saccade_counters>(saccade_stream_get_counters); }
  saccade_stream_end end() const { return get<saccade_stream_end>(saccade_stream_get_end); }
  saccade_level level(int plane, int level) const {
    auto out = make<saccade_level>();
    check(saccade_stream_get_level(handle_.get(), plane, level, &out));
    return out;
  }
  std::vector<std::byte> read_level(int plane, int level) const {
    std::vector<std::byte> texels(this->level(plane, level).size_bytes);
    check(saccade_stream_read_level(handle_.get(), plane, level, texels.data(), texels.size()));
    return texels;
  }
  saccade_stream* handle() const { return handle_.get(); }

 private:
  template <typename Struct>
  Struct get(saccade_status (*function)(saccade_stream*, Struct*)) const {
    auto out = make<Struct>();
    check(function(handle_.get(), &out));
    return out;
  }
  struct Free {
    void operator()(saccade_stream* stream) const { saccade_stream_free(stream); }
  };
  std::shared_ptr<const LogFunction> log_;  // outlives the handle, which calls it
  std::unique_ptr<saccade_stream, Free> handle_;
};

// ---- Tensors on the host: tensor.h says what each operation does ---------------------------------------------------

// u8, u16, f32 or f64.
template <typename T>
constexpr std::int32_t dtype_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return SACCADE_U8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return SACCADE_U16;
  if constexpr (std::is_same_v<T, float>) return SACCADE_F32;
  static_assert(std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::uint16_t> || std::is_same_v<T, float> ||
                std::is_same_v<T, double>);
  return SACCADE_F64;
}

// Up to five axes without gaps. The memory stays the caller's.
template <typename T>
saccade_array array_of(const T* data, std::initializer_list<std::int64_t> shape) {
  saccade_array array{};
  array.data = const_cast<T*>(data);  // calls write to results alone
  array.dtype = dtype_of<T>();
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    array.shape[axis] = shape.begin()[axis];
    array.stride[axis] = stride;
    stride *= array.shape[axis];
  }
  return array;
}

// Where patches of S x S samples lie: N of each of B images.
struct Patches {
  std::vector<float> centers;  // [B, N, 2] uv
  std::vector<float> lod;      // [B, N]: log2 of the distance of samples in pixels
  std::int64_t side = 16;      // S
};

// An image [B, C, H, W] with its mip levels. The image stays the caller's, and is read where it lies. One thread.
template <typename T>
class Pyramid {
 public:
  struct Gradient {
    std::vector<T> image;        // [B, C, H, W]
    std::vector<float> centers;  // [B, N, 2]
    std::vector<float> lod;      // [B, N]
  };

  Pyramid(const T* image, std::int64_t batch, std::int64_t channels, std::int64_t height, std::int64_t width,
          int levels = 7, saccade_odd_sizes odd = SACCADE_ODD_EDGE, int threads = 1)
      : odd_(odd), place_(make<saccade_place>()) {
    place_.threads = threads;
    arrays_.push_back(array_of(image, {batch, channels, height, width}));
    for (int level = 1; level < levels; ++level) {
      const std::int64_t rows = halved(height, level), columns = halved(width, level);
      texels_.emplace_back(static_cast<std::size_t>(batch * channels * rows * columns));
      arrays_.push_back(array_of(texels_.back().data(), {batch, channels, rows, columns}));
    }
    update();
  }
  Pyramid(Pyramid&&) = default;
  Pyramid& operator=(Pyramid&&) = default;

  // Makes the levels again, of what the image is now.
  void update() { check(saccade_reduce(&place_, arrays_.data(), count(), odd_, nullptr, 0)); }
  int levels() const { return count(); }
  // [B, C, h, w]; valid as long as this pyramid, level 0 as long as the image.
  const saccade_array& level(int level) const { return arrays_.at(static_cast<std::size_t>(level)); }

  // [B, N, C, S, S] of the image's type.
  std::vector<T> sample(const Patches& patches) const {
    const Places places(*this, patches);
    std::vector<T> samples(places.size());
    const auto out = places.batch_of(samples.data());
    check(
        saccade_sample(&place_, arrays_.data(), count(), &places.centers, &places.lod, nullptr, &places.options, &out));
    return samples;
  }

  // What each texel and each place contributes to a sum of samples weighted by `gradient` [B, N, C, S, S].
  Gradient sample_backward(const Patches& patches, const std::vector<T>& gradient) const {
    static_assert(std::is_floating_point_v<T>, "gradients are of f32 and f64");
    const Places places(*this, patches);
    if (gradient.size() != places.size()) throw std::invalid_argument("Pyramid: gradient must be [B, N, C, S, S]");
    const saccade_array& base = arrays_.front();
    std::size_t above = 0;
    for (const auto& texels : texels_) above += texels.size();
    Gradient found{std::vector<T>(static_cast<std::size_t>(base.shape[0] * base.stride[0])),
                   std::vector<float>(patches.centers.size()), std::vector<float>(patches.lod.size())};
    std::vector<T> sums(above);
    saccade_array image = base;
    image.data = found.image.data();
    const auto incoming = places.batch_of(gradient.data());
    check(saccade_sample_image_backward(&place_, arrays_.data(), count(), &places.centers, &places.lod, nullptr,
                                        &places.options, &incoming, odd_, &image, sums.data(), above * sizeof(T),
                                        nullptr, found.centers.data(), found.lod.data(), nullptr));
    return found;
  }

 private:
  struct Places {
    Places(const Pyramid& of, const Patches& patches)
        : batch(of.arrays_.front().shape[0]),
          channels(of.arrays_.front().shape[1]),
          side(patches.side),
          many(batch > 0 ? static_cast<std::int64_t>(patches.lod.size()) / batch : 0) {
      const auto places = static_cast<std::size_t>(batch * many);
      if (patches.side < 1 || patches.lod.size() != places || patches.centers.size() != 2 * places) {
        throw std::invalid_argument("Pyramid: centers must be [B, N, 2] and lod [B, N]");
      }
      centers = array_of(patches.centers.data(), {batch, many, 2});
      lod = array_of(patches.lod.data(), {batch, many});
      options.scale = 1;
      options.max_anisotropy = options.rotate = 1;
    }
    std::size_t size() const { return static_cast<std::size_t>(batch * many * channels * side * side); }
    saccade_array batch_of(const T* data) const { return array_of(data, {batch, many, channels, side, side}); }
    std::int64_t batch, channels, side, many;
    saccade_array centers{}, lod{};
    saccade_sample_options options = make<saccade_sample_options>();
  };

  std::int64_t halved(std::int64_t size, int level) const {
    return odd_ == SACCADE_ODD_FLOOR ? size >> level : (size + (std::int64_t{1} << level) - 1) >> level;
  }
  std::int32_t count() const { return static_cast<std::int32_t>(arrays_.size()); }

  saccade_odd_sizes odd_;
  saccade_place place_;
  std::vector<std::vector<T>> texels_;  // of levels 1 and on
  std::vector<saccade_array> arrays_;
};

// Patches around a fixation, of images of one size. Any thread.
class Lattice {
 public:
  static saccade_lattice_settings settings(int width_px, int height_px, int tokens = 273) {
    auto out = make<saccade_lattice_settings>();
    out.width_px = width_px, out.height_px = height_px, out.tokens = tokens;
    out.patch_size = 16, out.levels = 7, out.lod = -1, out.fov_deg = 40, out.sar = 1;
    return out;
  }
  explicit Lattice(const saccade_lattice_settings& settings) : side_(settings.patch_size) {
    saccade_lattice* handle = nullptr;
    check(saccade_lattice_new(&settings, &handle));
    handle_.reset(handle);
  }
  saccade_lattice_info info() const {
    auto out = make<saccade_lattice_info>();
    check(saccade_lattice_get_info(handle_.get(), &out));
    return out;
  }
  // Around (u, v), of one image.
  Patches plan(float u, float v) const {
    const float fixation[] = {u, v};
    std::vector<float> geometry(4 * static_cast<std::size_t>(info().patch_count));
    check(saccade_lattice_plan(handle_.get(), fixation, 1, 0, geometry.data()));
    Patches patches;
    patches.side = side_;
    for (std::size_t at = 0; at < geometry.size(); at += 4) {
      patches.centers.insert(patches.centers.end(), {geometry[at], geometry[at + 1]});
      patches.lod.push_back(geometry[at + 2]);
    }
    return patches;
  }

 private:
  struct Free {
    void operator()(saccade_lattice* lattice) const { saccade_lattice_free(lattice); }
  };
  std::int64_t side_;
  std::unique_ptr<saccade_lattice, Free> handle_;
};

}  // namespace v0
}  // namespace saccade

#endif
