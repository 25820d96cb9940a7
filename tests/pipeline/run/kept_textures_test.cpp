// Textures that go from one stream to the next.
#include "pipeline/backend/kept_textures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/run/pipeline.h"
#include "pipeline/source/open.h"

namespace saccade::test {
namespace {

PyramidLayout shape(int width, int height, TextureFormat format = TextureFormat::kYuv8, int levels = kDefaultLevels) {
  return make_pyramid_layout(width, height, format, levels);
}

TEST(KeptTextures, EqualNeeds_GetTheSameTexture) {
  KeptTextures kept(2);
  const BackendConfig config;
  const Texture* first = kept.take(config, shape(64, 48)).get();  // and goes back
  EXPECT_EQ(kept.idle(), 1U);
  const TexturePtr again = kept.take(config, shape(64, 48));
  EXPECT_EQ(again.get(), first);
  EXPECT_EQ(kept.idle(), 0U);
  const TexturePtr beside = kept.take(config, shape(64, 48));
  EXPECT_NE(beside.get(), first);
}

TEST(KeptTextures, OtherDiffers_AreNoOtherTextures) {
  KeptTextures kept(1);
  BackendConfig config;
  config.diff.threshold = 8;
  const Texture* first = kept.take(config, shape(64, 48)).get();
  config.diff.threshold = 0;
  EXPECT_EQ(kept.take(config, shape(64, 48)).get(), first);
}

// Each beside the kept one, which still lives: no two addresses are the same by chance.
TEST(KeptTextures, OtherNeeds_GetAnother) {
  const BackendConfig plain;
  BackendConfig staged;
  staged.staged = true;
  BackendConfig other_device;
  other_device.device = 1;
  BackendConfig on_device;
  on_device.frames = MemorySpace::kCuda;
  struct Need {
    const char* what;
    BackendConfig config;
    PyramidLayout layout;
  };
  const std::vector<Need> needs = {{"width", plain, shape(65, 48)},
                                   {"height", plain, shape(64, 47)},
                                   {"format", plain, shape(64, 48, TextureFormat::kYuv16)},
                                   {"levels", plain, shape(64, 48, TextureFormat::kYuv8, 3)},
                                   {"staged", staged, shape(64, 48)},
                                   {"device", other_device, shape(64, 48)},
                                   {"frames", on_device, shape(64, 48)}};
  for (const Need& need : needs) {
    SCOPED_TRACE(need.what);
    KeptTextures kept(4);
    const Texture* first = kept.take(plain, shape(64, 48)).get();
    const TexturePtr other = kept.take(need.config, need.layout);
    EXPECT_NE(other.get(), first);
    EXPECT_EQ(other->layout(), need.layout);
    EXPECT_EQ(other->capabilities().staged != nullptr, need.config.staged);
    EXPECT_EQ(kept.idle(), 1U);
  }
}

TEST(KeptTextures, AnyMix_KeepsNoMoreThanAsked) {
  KeptTextures kept(3);
  for (int i = 0; i < 20; ++i) {
    std::vector<TexturePtr> in_use;
    for (int n = 0; n <= i % 5; ++n) {
      in_use.push_back(kept.take({}, shape(16 * (1 + (i + n) % 7), 32)));
      EXPECT_LE(kept.idle() + in_use.size(), std::max<std::size_t>(3, in_use.size()));
    }
    in_use.clear();
    EXPECT_LE(kept.idle(), 3U);
    EXPECT_GE(kept.idle(), 1U);
  }
}

TEST(KeptTextures, AfterARefusal_HasAsMuchRoomAsBefore) {
  KeptTextures kept(1);
  BackendConfig impossible;
  impossible.backend = Backend::kCuda;
  impossible.device = 1000;
  for (int i = 0; i < 3; ++i) EXPECT_ANY_THROW(static_cast<void>(kept.take(impossible, shape(64, 48))));
  kept.take({}, shape(64, 48)).reset();
  EXPECT_EQ(kept.idle(), 1U);
}

struct Emitted {
  std::vector<std::byte> patches;
  std::vector<std::uint8_t> changed;
  std::vector<std::int32_t> damaged;
  bool operator==(const Emitted&) const = default;
};

Emitted run(const std::string& uri, PipelineConfig config, KeptTextures* kept) {
  config.kept = kept;
  SourceConfig input;
  input.uri = uri;
  const auto source = open_source(input);
  Pipeline pipeline(config);
  Emission emission;
  Emitted all;
  for (Frame frame; source->next(frame) == ReadStatus::kOk;) {
    if (!pipeline.step(frame.view(), emission).emitted) continue;
    settle(emission);
    const auto bytes = emission.batch.bytes();
    all.patches.insert(all.patches.end(), bytes.begin(), bytes.end());
    all.changed.insert(all.changed.end(), emission.changed.begin(), emission.changed.end());
    all.damaged.push_back(emission.damaged_tiles);
  }
  return all;
}

// Streams one after the other in one texture emit what each emits in a texture of its own: other settings before, a
// stream that was left in its middle, the very picture that the texture holds already.
TEST(KeptTextures, StreamAfterStream_EmitsAsAlone) {
  PipelineConfig config;
  config.emit = {EmitPolicy::Kind::kFrames, 1};
  PipelineConfig coarse = config;
  coarse.diff = {40, 30, 8};
  const char* const uris[] = {"test://noise?size=161x121&frames=6",  "test://static?size=161x121&frames=4",
                              "test://static?size=161x121&frames=4", "test://pan?size=161x121&frames=6",
                              "test://fade?size=161x121&frames=9",   "test://box?size=161x121&frames=9"};
  KeptTextures kept(1);
  for (const PipelineConfig& each : {coarse, config}) {
    for (const char* uri : uris) {
      SCOPED_TRACE(uri);
      const Emitted alone = run(uri, each, nullptr);
      ASSERT_FALSE(alone.patches.empty());
      EXPECT_TRUE(run(uri, each, &kept) == alone);
      EXPECT_EQ(kept.idle(), 1U);
    }
  }
}

TEST(KeptTextures, ANewSizeMidway_GivesTheFirstBack) {
  KeptTextures kept(2);
  PipelineConfig config;
  config.kept = &kept;
  Pipeline pipeline(config);
  for (const char* uri : {"test://box?size=64x48&frames=2", "test://box?size=96x48&frames=2"}) {
    SourceConfig input;
    input.uri = uri;
    const auto source = open_source(input);
    Frame frame;
    ASSERT_EQ(source->next(frame), ReadStatus::kOk);
    pipeline.prepare(frame.view());
  }
  EXPECT_EQ(kept.idle(), 1U);
}

}  // namespace
}  // namespace saccade::test
