// What goes together, and what comes of it.
#include "pipeline/options/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/options/idle.h"
#include "pipeline/options/option_error.h"

namespace saccade {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Settings = std::vector<std::pair<const char*, const char*>>;

StreamOptions with(const Settings& settings) {
  StreamOptions options;
  for (const auto& [name, text] : settings) set_option(options, name, text);
  return options;
}

std::string error_of(const Settings& settings, StreamUse use = StreamUse::kInspect) {
  StreamOptions options = with(settings);
  try {
    resolve(options, use);
  } catch (const OptionError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

Settings nested(Settings settings) {
  settings.emplace_back("lattice", "nested");
  return settings;
}

LatticeConfig lattice_with(const Settings& settings) {
  StreamOptions options = with(settings);
  check_options(options);
  return options.pipeline.lattice;
}

TEST(Resolve, OptionsThatConflict_AreNamed) {
  for (const auto& [words, settings] : std::vector<std::pair<std::vector<std::string>, Settings>>{
           {{"patches: conflicts with e0"}, nested({{"patches", "100"}, {"e0", "2"}})},
           {{"patches: conflicts with preset"}, nested({{"patches", "100"}, {"preset", "uv"}})},
           {{"e0: conflicts with preset"}, nested({{"preset", "uv"}, {"e0", "2"}})},
           {{"m0: conflicts with preset"}, nested({{"preset", "uv"}, {"m0", "2"}})},
           {{"lod: needs lattice uniform"}, {{"lod", "2"}}},
           {{"lod: needs lattice uniform"}, {{"lod", "2"}, {"lattice", "grid"}}},
           {{"preset: lattice uniform", "lod"}, {{"lattice", "uniform"}, {"preset", "uv"}}},
           {{"e0: lattice uniform", "lod"}, {{"lattice", "uniform"}, {"e0", "2"}}},
           {{"strides: needs lattice nested"}, {{"lattice", "grid"}, {"strides", "1,2"}, {"grid-sizes", "4,4"}}},
           {{"strides: strides and grid-sizes"}, nested({{"strides", "1,2"}})},
           {{"grid-sizes: strides and grid-sizes"}, nested({{"grid-sizes", "4,4"}})},
           {{"grid-sizes: has 3", "strides has 2"}, nested({{"strides", "1,2"}, {"grid-sizes", "4,4,4"}})},
           {{"e0: conflicts with strides"}, nested({{"e0", "2"}, {"strides", "1,2"}, {"grid-sizes", "4,4"}})},
           {{"preset: conflicts with strides"}, nested({{"preset", "uv"}, {"strides", "1,2"}, {"grid-sizes", "4,4"}})},
           {{"patches: conflicts with strides"}, nested({{"patches", "9"}, {"strides", "1,2"}, {"grid-sizes", "4,4"}})},
           {{"tokens: conflicts with patches"}, nested({{"tokens", "100"}, {"patches", "100"}})},
           {{"tokens: conflicts with patches"}, {{"tokens", "100"}, {"patches", "100"}, {"lattice", "grid"}}},
           {{"tokens: conflicts with e0"}, nested({{"tokens", "100"}, {"e0", "2"}})},
           {{"tokens: conflicts with preset"}, nested({{"tokens", "100"}, {"preset", "uv"}})},
           {{"tokens: conflicts with strides"}, nested({{"tokens", "9"}, {"strides", "1,2"}, {"grid-sizes", "4,4"}})},
           {{"patches: conflicts with fovea"}, nested({{"fovea", "128"}, {"patches", "100"}})},
           {{"fovea: conflicts with e0"}, nested({{"fovea", "4deg"}, {"e0", "2"}})},
           {{"fovea: conflicts with preset"}, nested({{"fovea", "4deg"}, {"preset", "uv"}})},
           {{"fovea: conflicts with strides"}, nested({{"fovea", "128"}, {"strides", "1,2"}, {"grid-sizes", "4,4"}})},
           {{"fovea: needs lattice nested"}, {{"fovea", "128"}, {"lattice", "grid"}}},
           {{"tokens: conflicts with m0"}, nested({{"tokens", "100"}, {"m0", "2"}})},
           {{"context: needs lattice adaptive"}, nested({{"context", "30s"}})},
           {{"context: keeps 100 tokens, fewer than the 273 of a look; give at least as many, or fewer tokens"},
            {{"context", "100"}}},
           {{"tokens-per-second: needs lattice adaptive"}, {{"tokens-per-second", "9"}, {"lattice", "grid"}}},
           {{"preset: needs lattice nested or grid"}, {{"lattice", "adaptive"}, {"preset", "uv"}}},
           {{"e0: needs lattice nested or grid"}, {{"e0", "2"}, {"lattice", "adaptive"}}},
           {{"m0: needs lattice nested or grid"}, {{"lattice", "adaptive"}, {"m0", "2"}}},
           {{"patches: needs lattice nested, grid or uniform"}, {{"lattice", "adaptive"}, {"patches", "9"}}},
           {{"tokens: conflicts with m0"}, {{"m0", "2"}, {"tokens", "100"}}},
           {{"target-psnr: needs lattice adaptive"}, {{"fovea", "128"}, {"target-psnr", "40"}}},
           {{"normalize: u8", "dtype f16"}, {{"normalize", "clip"}}},
           {{"require-hwdec: conflicts with hwdec no"}, {{"require-hwdec", "true"}, {"hwdec", "no"}}}}) {
    for (const std::string& word : words) EXPECT_THAT(error_of(settings), HasSubstr(word));
  }
}

TEST(Resolve, OptionsThatGoTogether_MakeALattice) {
  EXPECT_EQ(std::get<AdaptiveShape>(lattice_with({}).shape), AdaptiveShape{});
  for (const Settings& of_fovea : {Settings{{"fovea", "128"}},
                                   {{"patches", "90"}},
                                   {{"m0", "2"}},
                                   {{"preset", "uv"}},
                                   {{"patch-size", "14"}},
                                   {{"strides", "1,2"}, {"grid-sizes", "4,4"}}}) {
    EXPECT_EQ(lattice_kind(lattice_with(of_fovea)), LatticeKind::kNested) << of_fovea[0].first;
  }
  EXPECT_EQ(
      std::get<AdaptiveShape>(lattice_with({{"tokens", "100"},
                                            {"tokens-per-second", "50"},
                                            {"target-psnr", "40"},
                                            {"context", "30s"},
                                            {"eye", "0.5"}})
                                  .shape),
      (AdaptiveShape{
          .tokens = 100, .tokens_per_second = 50, .target_psnr = 40, .context = ContextLength{30, true}, .eye = 0.5}));
  EXPECT_EQ(lattice_with(nested({})), LatticeConfig{});
  EXPECT_EQ(std::get<PatchBudget>(lattice_with(nested({{"patches", "100"}})).shape).patches, 100);
  EXPECT_EQ(std::get<TokenBudget>(lattice_with(nested({{"tokens", "100"}})).shape),
            (TokenBudget{.tokens = 100, .fovea = {}}));
  EXPECT_EQ(std::get<TokenBudget>(lattice_with(nested({{"tokens", "100"}, {"fovea", "96"}})).shape),
            (TokenBudget{.tokens = 100, .fovea = FoveaWidth{96}}));
  EXPECT_EQ(std::get<TokenBudget>(lattice_with(nested({{"fovea", "4.5deg"}})).shape),
            (TokenBudget{.tokens = kDefaultTokens, .fovea = FoveaWidth{4.5, true}}));
  EXPECT_EQ(std::get<GridShape>(lattice_with({{"lattice", "grid"}, {"tokens", "9"}}).shape).patches, 9);
  EXPECT_EQ(std::get<UniformShape>(lattice_with({{"lattice", "uniform"}, {"tokens", "9"}}).shape).patches, 9);
  EXPECT_EQ(std::get<Acuity>(lattice_with(nested({{"e0", "2"}})).shape), (Acuity{.e0 = 2, .m0 = 2}));
  EXPECT_EQ(std::get<Acuity>(lattice_with(nested({{"e0", "2"}, {"m0", "3"}})).shape), (Acuity{.e0 = 2, .m0 = 3}));
  EXPECT_EQ(std::get<Acuity>(lattice_with(nested({{"m0", "3"}})).shape), (Acuity{.m0 = 3}));
  EXPECT_EQ(std::get<Acuity>(lattice_with(nested({{"preset", "uv"}})).shape), find_preset("uv")->acuity);
  EXPECT_EQ(std::get<ExplicitRings>(lattice_with(nested({{"strides", "1,2"}, {"grid-sizes", "4,6"}})).shape),
            (ExplicitRings{{{1, 4}, {2, 6}}}));
  const LatticeConfig grid =
      lattice_with({{"lattice", "grid"}, {"m0", "3"}, {"patches", "9"}, {"fov-deg", "60"}, {"patch-size", "8"}});
  EXPECT_EQ(std::get<GridShape>(grid.shape), (GridShape{.patches = 9, .acuity = Acuity{.m0 = 3}}));
  EXPECT_EQ(grid.fov_deg, 60);
  EXPECT_EQ(grid.patch_size, 8);
  EXPECT_EQ(std::get<UniformShape>(lattice_with({{"lattice", "uniform"}, {"lod", "1.5"}}).shape),
            (UniformShape{.patches = {}, .lod = 1.5, .acuity = {}}));
}

TEST(Resolve, StoredSettings_MayHoldWhatHasNoEffect) {
  StreamOptions options = with({{"lattice", "uniform"}, {"e0", "2"}});
  options.lattice.acuity_is_stored = true;
  check_options(options);
  EXPECT_EQ(std::get<UniformShape>(options.pipeline.lattice.shape).acuity, (Acuity{.e0 = 2, .m0 = 2}));
}

TEST(Resolve, ConflictsOfAManual_AreThree) {
  EXPECT_EQ(option_conflicts().size(), 3U);
  const auto is_current = [](std::string_view option) { return find_stream_option(option)->spec.instead.empty(); };
  for (const OptionConflict& pair : option_conflicts()) {
    for (const std::string_view option : pair.one) EXPECT_TRUE(is_current(option)) << option;
    for (const std::string_view option : pair.other) EXPECT_TRUE(is_current(option)) << option;
  }
}

TEST(Resolve, AnyLattice_ComesBackFromItsOptions) {
  std::mt19937 random(73);
  const auto number = [&] { return std::uniform_real_distribution<double>(0.1, 20)(random); };
  const auto count = [&] { return std::uniform_int_distribution<int>(1, 2000)(random); };
  for (int trial = 0; trial < 300; ++trial) {
    LatticeConfig config{.patch_size = 2 * (count() % 64 + 1), .fov_deg = number(), .shape = {}};
    std::optional<Acuity> acuity;
    if (random() % 3 == 0) acuity = Acuity{.e0 = number(), .m0 = number()};
    if (random() % 3 == 0) acuity = find_preset("uv")->acuity;
    switch (random() % 6) {
      case 0:
        config.shape = PatchBudget{.patches = count(), .m0 = {}};
        break;
      case 1:
        config.shape = acuity.value_or(Acuity{});
        break;
      case 2:
        config.shape = ExplicitRings{{{1, 4}, {2, 4 + 2 * (count() % 8)}}};
        break;
      case 3:
        config.shape = GridShape{.patches = count(), .acuity = acuity};
        break;
      case 4:
        config.shape = TokenBudget{.tokens = count(), .fovea = {}};
        if (random() % 2 == 0) std::get<TokenBudget>(config.shape).fovea = FoveaWidth{number(), random() % 2 == 0};
        break;
      default:
        config.shape = UniformShape{.patches = count(), .lod = {}, .acuity = acuity};
        if (random() % 2 == 0) std::get<UniformShape>(config.shape).lod = number();
    }
    ASSERT_EQ(lattice_of(options_of(config)), config) << "trial " << trial;
  }
}

TEST(Resolve, Fixation_IsReadBeforeAStreamIsOpened) {
  for (const char* text : {"center:2,0", "center:left", "raster:0x3"}) {
    try {
      with({{"fixation", text}});
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
  StreamOptions file = with({{"fixation", "file:/not/there.csv"}});
  EXPECT_NO_THROW(check_options(file));
}

TEST(Resolve, Backend_MustFitItsUse) {
  EXPECT_EQ(error_of({{"backend", "cpu"}}, StreamUse::kDraw),
            "backend cpu: pictures are drawn from OpenGL's textures; use backend gl, cuda or auto");
  EXPECT_EQ(error_of({{"backend", "cpu"}, {"upload", "pbo"}}, StreamUse::kRun),
            "upload pbo: backend cpu uploads to no GPU; use backend gl or cuda, or leave it out");
  EXPECT_EQ(error_of({{"backend", "cpu"}, {"upload", "pbo"}}), "no error");  // nothing runs
  StreamOptions options = with({{"backend", "cpu"}});
  resolve(options);
  EXPECT_EQ(options.pipeline.backend, Backend::kCpu);
  EXPECT_EQ(options.backend_reason, "");
  StreamOptions drawn;
  resolve(drawn, StreamUse::kDraw);
  EXPECT_EQ(drawn.pipeline.backend, Backend::kGl);
}

TEST(Idle, NameOfAnInput_SaysWhatDoesNothing) {
  const StreamOptions options;
  for (const char* uri : {"rtsp://host/x", "rtsps://host/x"}) {
    EXPECT_EQ(why_idle_for("rtsp-transport", options, uri), nullptr) << uri;
  }
  for (const char* uri : {"http://host/x", "rtsp.mp4", "test://box"}) {
    EXPECT_NE(why_idle_for("rtsp-transport", options, uri), nullptr) << uri;
  }
  EXPECT_NE(why_idle_for("threads", options, "test://box"), nullptr);
  EXPECT_EQ(why_idle_for("threads", options, "lavfi:testsrc2"), nullptr) << "is decoded";
}

TEST(Resolve, Twice_GivesTheSame) {
  StreamOptions options = with({{"backend", "cpu"}, {"live-policy", "latest"}, {"fov-deg", "50"}});
  resolve(options);
  EXPECT_TRUE(options.source.live.assume_live);
  EXPECT_TRUE(options.source.live.drop_late);
  EXPECT_EQ(options.pipeline.scanpath.fov_deg, 50);
  set_option(options, "live-policy", "block");
  set_option(options, "lattice", "grid");
  resolve(options);
  EXPECT_FALSE(options.source.live.assume_live);
  EXPECT_FALSE(options.source.live.drop_late);
  EXPECT_EQ(options.source.hwdec, HwDecode::kNo);
  EXPECT_EQ(lattice_kind(options.pipeline.lattice), LatticeKind::kGrid);
}

TEST(Resolve, ASession_GetsWhatWasAsked) {
  StreamOptions options = with({{"backend", "cpu"}, {"live-policy", "latest"}, {"levels", "5"}});
  resolve(options);
  const SessionConfig plain = session_config(options, "a.mp4");
  EXPECT_EQ(plain.source.uri, "a.mp4");
  EXPECT_EQ(plain.policy, QueuePolicy::kLatest);
  EXPECT_EQ(plain.pipeline.levels, 5);
  EXPECT_FALSE(plain.threshold_given);
  set_option(options, "threshold", "0");  // the default, but asked for: live sources have another
  EXPECT_TRUE(session_config(options, "a.mp4").threshold_given);
}

TEST(Resolve, ATunedPipeline_IsSaidByItsOptions) {
  StreamOptions tuned = with({{"levels", "6"},
                              {"threshold", "3"},
                              {"lattice", "grid"},
                              {"e0", "3"},
                              {"fixation", "center:0.5,0.25"},
                              {"seed", "7"}});
  check_options(tuned);
  StreamOptions read_back;
  const StreamOptions said = options_of(tuned.pipeline);
  for (const StreamOption& row : stream_options()) {
    const auto text = row.binding.print(said);
    if (row.spec.tunable && text) set_option(read_back, row.spec.name, *text);
  }
  check_options(read_back);
  EXPECT_EQ(read_back.pipeline.lattice, tuned.pipeline.lattice);
  EXPECT_EQ(read_back.pipeline.diff, tuned.pipeline.diff);
  EXPECT_EQ(read_back.pipeline.scanpath, tuned.pipeline.scanpath);
  EXPECT_EQ(read_back.pipeline.levels, 6);
}

}  // namespace
}  // namespace saccade
