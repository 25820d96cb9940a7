// A frame that a device reads lives until it has read it, also where a step throws in between.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/cpu/texture.h"
#include "kernels/device_texture.h"
#include "pipeline/backend/texture_layout.h"
#include "pipeline/run/pipeline.h"

namespace saccade::test {
namespace {

constexpr int kSide = 64;

struct Calls {
  int waits = 0;
  int given_back = 0;
};

class CountingMark final : public DeviceMark {
 public:
  explicit CountingMark(Calls& calls) : calls_(calls) {}
  bool done() const override { return false; }
  void wait() const override { ++calls_.waits; }

 private:
  Calls& calls_;
};

// Backend cpu's texture, which says that it reads its frame later, as one on a device does.
class LateReader final : public Texture, public DeviceTexture, public ReusableTexture {
 public:
  LateReader(const PyramidLayout& layout, Calls& calls) : texture_(layout, DiffConfig{}, false), calls_(calls) {}

  const PyramidLayout& layout() const override { return texture_.layout(); }
  void read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                   std::ptrdiff_t pitch_bytes) const override {
    texture_.read_texels(plane, level, part, out, pitch_bytes);
  }
  void update(const FrameView& frame) override {
    FrameView here = frame;
    here.space = MemorySpace::kHost;
    texture_.update(here);
  }
  const Damage& damage() override { return texture_.damage(); }
  std::int64_t bytes_written() override { return texture_.bytes_written(); }
  void damage_everything() override { texture_.damage_everything(); }
  void configure(const DiffConfig& config) override { texture_.configure(config); }
  void start_over(const DiffConfig&) override {}
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override {
    texture_.sample(plan, color, batch);
  }
  void submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t>,
              PatchBatch& batch) override {
    texture_.sample(plan, color, batch);
  }
  std::unique_ptr<HeldPicture> make_held_picture(const ErrorMeasure& measure) const override {
    return texture_.make_held_picture(measure);
  }
  TextureCapabilities capabilities() override { return {.device = this, .reusable = this}; }

  int device() const override { return 0; }
  bool is_device_memory(const void*) const override { return true; }
  void note_damage() override {}
  void reserve_places(std::size_t) override {}
  void reserve_slots(std::size_t) override {}
  void submit_to(const PatchPlan&, const ColorSpec&, std::span<const float>, std::span<const PlaceRecord>,
                 const PatchTarget&) override {}
  void give_back(void*) override { ++calls_.given_back; }
  std::shared_ptr<const DeviceMark> reading() override { return std::make_shared<CountingMark>(calls_); }
  DeviceTotals totals() override { return {}; }

 private:
  CpuTexture texture_;
  Calls& calls_;
};

// A pipeline with such a texture, whose fixation function throws until it is told not to.
class DeviceRead : public ::testing::TestWithParam<MemorySpace> {
 protected:
  DeviceRead() {
    frame_.layout = PixelLayout::kNv12;
    frame_.width_px = frame_.height_px = kSide;
    frame_.planes[0] = {picture_.data(), kSide};
    frame_.planes[1] = {picture_.data() + std::size_t{kSide} * kSide, kSide};
    frame_.space = GetParam();
    PipelineConfig config;
    config.emit = {EmitPolicy::Kind::kFrames, 1};
    config.scanpath.policy = FixationPolicy::kCenter;  // looks at no damage
    config.kept = &kept_;
    put_aside(config);
    pipeline_.emplace(config);
    pipeline_->set_fixation_source([this](const FixationRequest&, const SceneView&) -> std::optional<GazePoint> {
      if (throws_) throw std::runtime_error("the caller's");
      return std::nullopt;
    });
    into_.space = MemorySpace::kCuda;
    into_.patches = reinterpret_cast<std::byte*>(picture_.data());  // is never written
  }

  KeptTextures kept_{1};
  Calls calls_;
  bool throws_ = true;
  std::vector<std::uint8_t> picture_ = std::vector<std::uint8_t>(std::size_t{kSide} * kSide * 3 / 2, 100);
  FrameView frame_;
  PatchTarget into_;
  std::optional<Pipeline> pipeline_;

 private:
  // Where the pipeline looks for a texture before it makes one.
  void put_aside(const PipelineConfig& config) {
    BackendConfig backend;
    backend.backend = config.backend;
    backend.upload = config.upload;
    backend.frames = frame_.space;
    backend.calibrate = config.calibrate;
    backend.device = config.device;
    const PyramidLayout layout = texture_layout(kSide, kSide, frame_.layout, config.levels);
    TexturePtr place = kept_.take(BackendConfig{}, layout);
    delete place.release();
    TexturePtr(new LateReader(layout, calls_), TextureReturn(kept_, backend)).reset();
    ASSERT_EQ(kept_.idle(), 1U);
  }
};

TEST_P(DeviceRead, StepThatThrows_WaitsForIt) {
  Emission emission;
  EXPECT_THROW(pipeline_->step(frame_, emission, &into_), std::runtime_error);
  EXPECT_EQ(calls_.waits, 1);
  throws_ = false;
  const StepResult result = pipeline_->step(frame_, emission, &into_);
  EXPECT_TRUE(result.emitted);
  EXPECT_NE(result.reading, nullptr) << "the caller's to wait for";
  EXPECT_EQ(calls_.waits, 1) << "nothing is waited for otherwise";
}

TEST_P(DeviceRead, AdvanceThatThrows_GivesTheFrameBack) {
  const bool there = frame_.space == MemorySpace::kCuda;
  EXPECT_THROW(pipeline_->advance(frame_, true), std::runtime_error);
  EXPECT_EQ(calls_.given_back, there ? 1 : 0);
  EXPECT_EQ(calls_.waits, there ? 0 : 1);
  throws_ = false;
  EXPECT_TRUE(pipeline_->advance(frame_, true).emitted);
  EXPECT_EQ(calls_.given_back, there ? 2 : 0);
  EXPECT_EQ(calls_.waits, there ? 0 : 2);
}

INSTANTIATE_TEST_SUITE_P(Frames, DeviceRead, ::testing::Values(MemorySpace::kHost, MemorySpace::kCuda),
                         [](const auto& space) { return space.param == MemorySpace::kHost ? "OnHost" : "OnDevice"; });

}  // namespace
}  // namespace saccade::test
