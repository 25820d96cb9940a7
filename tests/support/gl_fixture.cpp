#include "tests/support/gl_fixture.h"

#include <memory>

#include "tests/support/required.h"

namespace saccade::testing {
namespace {

constexpr int half(int value) { return (value + 1) / 2; }

}  // namespace

gl::Context* shared_context(std::string& why) {
  static std::string failure;
  static const std::unique_ptr<gl::Context> context = []() -> std::unique_ptr<gl::Context> {
    try {
      gl::ContextConfig config;
      config.sink = [](const gl::DebugMessage& message) {
        if (message.error) ADD_FAILURE() << "GL error: " << message.text;
      };
      return std::make_unique<gl::Context>(gl::Context::offscreen(config));
    } catch (const gl::GlError& error) {
      failure = error.what();
      return nullptr;
    }
  }();
  why = failure;
  return context.get();
}

gl::Context quiet_context() {
  gl::ContextConfig config;
  config.sink = [](const gl::DebugMessage&) {};
  return gl::Context::offscreen(config);
}

void GlTest::SetUp() {
  std::string why;
  context_ = shared_context(why);
  if (context_ == nullptr) {
    skip_or_fail("gl", why);
    return;
  }
  errors_before_ = context_->error_count();
}

void GlTest::TearDown() {
  if (context_ == nullptr) return;
  context_->make_current();
  EXPECT_EQ(context_->error_count(), errors_before_);
  EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
}

HostFrame::HostFrame(PixelLayout layout, int width_px, int height_px)
    : layout_(layout), width_px_(width_px), height_px_(height_px) {
  const auto add = [this](int width_samples, int rows, int sample_bytes) {
    const int width_bytes = width_samples * sample_bytes;
    const std::ptrdiff_t pitch = width_bytes + (sample_bytes == 2 ? 6 : 7);
    planes_.push_back(
        {width_bytes, rows, sample_bytes, pitch, std::vector<std::uint8_t>(static_cast<std::size_t>(pitch * rows))});
  };
  const int chroma_width = half(width_px);
  const int chroma_height = half(height_px);
  const int sample_bytes = layout == PixelLayout::kI420p16 || layout == PixelLayout::kP016 ? 2 : 1;
  if (layout == PixelLayout::kRgba8) {
    add(width_px * 4, height_px, 1);
    return;
  }
  add(width_px, height_px, sample_bytes);
  if (layout == PixelLayout::kNv12 || layout == PixelLayout::kP016) {
    add(chroma_width * 2, chroma_height, sample_bytes);
  } else {
    add(chroma_width, chroma_height, sample_bytes);
    add(chroma_width, chroma_height, sample_bytes);
  }
}

FrameView HostFrame::view() const {
  FrameView view;
  view.layout = layout_;
  view.width_px = width_px_;
  view.height_px = height_px_;
  for (std::size_t p = 0; p < planes_.size(); ++p) view.planes[p] = {planes_[p].bytes.data(), planes_[p].pitch};
  const bool wide = planes_[0].sample_bytes == 2;
  view.shift = layout_ == PixelLayout::kI420p16 ? 6 : 0;
  view.color.depth_bits = wide ? 10 : 8;
  return view;
}

void HostFrame::randomize(std::mt19937& random) {
  for (Plane& plane : planes_) {
    for (std::uint8_t& byte : plane.bytes) byte = static_cast<std::uint8_t>(random());
  }
  if (layout_ != PixelLayout::kI420p16) return;
  for (Plane& plane : planes_) {  // 10 significant bits
    for (int y = 0; y < plane.rows; ++y) {
      for (int x = 1; x < plane.width_bytes; x += 2) plane.bytes[static_cast<std::size_t>(y * plane.pitch + x)] &= 3;
    }
  }
}

void HostFrame::disturb(std::mt19937& random, int one_in) {
  if (one_in == 0) return;
  for (Plane& plane : planes_) {
    for (int y = 0; y < plane.rows; y += 8) {
      for (int x = 0; x < plane.width_bytes; x += 16) {
        if (random() % static_cast<unsigned>(one_in) != 0) continue;
        plane.bytes[static_cast<std::size_t>(y * plane.pitch + x)] ^= 1U;
      }
    }
  }
}

}  // namespace saccade::testing
