// What the panel's controls make of the settings, and that a saved file gives just those to dump.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "app/options/options.h"
#include "app/options/save_settings.h"
#include "pipeline/error.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "tests/support/temp_dir.h"
#include "ui/tuning/settings_edits.h"

namespace saccade::ui {
namespace {

constexpr FrameGeometry kGeometry{1280, 720, 1.0, 7};

// What dump runs with the saved file.
PipelineConfig through_file(const PipelineConfig& config) {
  const test::TempDir folder;
  const std::string path = folder.file("settings.toml");
  save_settings(config, path);
  const char* words[] = {"saccade", "dump", "clip.mp4", "-o", "out", "--backend", "cpu", "--config", path.c_str()};
  int exit_code = -1;
  const auto options = parse_options(static_cast<int>(std::size(words)), words, exit_code);
  EXPECT_TRUE(options) << settings_toml(config);
  return options ? options->pipeline : PipelineConfig{};
}

// The lattice in words, or why there can't be one.
std::string lattice_of(const PipelineConfig& config) {
  FrameGeometry geometry = kGeometry;
  geometry.levels = config.levels;
  try {
    return make_lattice(config.lattice, geometry)->describe();
  } catch (const UsageError& error) {
    return error.what();
  }
}

void expect_same(const PipelineConfig& read, const PipelineConfig& saved) {
  const std::string file = settings_toml(saved);
  EXPECT_EQ(read.levels, saved.levels) << file;
  EXPECT_EQ(read.diff, saved.diff) << file;
  EXPECT_EQ(read.scanpath, saved.scanpath) << file;
  EXPECT_EQ(read.lattice, saved.lattice) << file;
  EXPECT_EQ(lattice_of(read), lattice_of(saved)) << file;
}

TEST(SettingsFile, Untouched_ComesBack) { expect_same(through_file({}), {}); }

TEST(SettingsFile, ExplicitRings_ComeBack) {
  PipelineConfig config;
  config.lattice.shape = ExplicitRings{{{1, 4}, {2, 4}, {4, 6}, {8, 8}}};
  expect_same(through_file(config), config);
}

TEST(SettingsFile, FixationsPlace_ComesBack) {
  PipelineConfig config;
  set_policy(config, FixationPolicy::kCenter);
  config.scanpath.argument = "0.25,0.625";
  config.scanpath.seed = 123456;
  expect_same(through_file(config), config);
}

TEST(SettingsFile, FileThatExists_IsReplacedOnlyWhenAsked) {
  const test::TempDir folder;
  const std::string path = folder.file("a.toml");
  std::ofstream(path) << "mine";
  EXPECT_FALSE(save_settings({}, path, false));
  std::string kept;
  std::ifstream(path) >> kept;
  EXPECT_EQ(kept, "mine");
  EXPECT_TRUE(save_settings({}, path, true));
  std::ifstream(path) >> kept;
  EXPECT_NE(kept, "mine");
  EXPECT_TRUE(save_settings({}, folder.file("b.toml"), false));
}

TEST(SettingsFile, MissingFolder_IsAnError) {
  const test::TempDir folder;
  EXPECT_THROW(save_settings({}, folder.file("no/such/folder/a.toml")), std::runtime_error);
}

// A person at the controls.
void edit(PipelineConfig& config, std::mt19937& random) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  auto* const adaptive = std::get_if<AdaptiveShape>(&config.lattice.shape);
  if (adaptive != nullptr && pick(0, 1) == 0) {
    adaptive->tokens_per_second = pick(0, 1) == 0 ? std::nullopt : std::optional(pick(1, 4096));
    adaptive->target_psnr = pick(0, 1) == 0 ? std::nullopt : std::optional(pick(2, 120) / 2.0);
    set_context(*adaptive,
                pick(0, 1) == 0 ? std::nullopt : std::optional(ContextLength{1.0 * pick(1, 9999), pick(0, 1) == 0}));
    adaptive->eye = pick(0, 4) / 4.0;
    return;
  }
  switch (pick(0, 8)) {
    case 0:
      return set_lattice_kind(config, static_cast<LatticeKind>(pick(0, 3)));
    case 1:
      return set_patches(config, pick(200, 900));
    case 2:
      return set_fovea(config, pick(50, 400) / 100.0, pick(50, 400) / 100.0);
    case 3:
      return set_preset(config, kFoveaPresets[static_cast<std::size_t>(pick(0, 3))]);
    case 4:
      return set_fov(config, pick(20, 90));
    case 5:
      return set_policy(config, static_cast<FixationPolicy>(pick(0, 3)));
    case 6:
      config.diff.threshold = pick(0, 64);
      config.diff.min_samples = pick(0, 384);
      return;
    case 7:
      config.levels = pick(6, 8);
      return;
    default:
      config.scanpath.rate_hz = pick(1, 80) / 4.0;
      config.scanpath.seed = static_cast<std::uint64_t>(pick(0, 1000));
  }
}

TEST(SettingsFile, AnyTuning_IsWhatDumpRuns) {
  std::mt19937 random(20261128);
  PipelineConfig config;
  for (int step = 0; step < 80; ++step) {
    edit(config, random);
    expect_same(through_file(config), config);
    if (testing::Test::HasFailure()) FAIL() << "after step " << step;
  }
}

// The published preset that the lattice's acuity is; null: none.
const FoveaPreset* preset_of(const LatticeConfig& lattice) {
  const Acuity* acuity = acuity_of(lattice);
  for (const FoveaPreset& preset : kFoveaPresets) {
    if (acuity != nullptr && *acuity == preset.acuity) return &preset;
  }
  return nullptr;
}

// What a slider shows and a file holds, of what the lattice keeps as a float.
TEST(SettingsEdits, Float_IsTheDoubleThatIsWrittenAsIt) {
  for (const double value : {2.3, 0.05, 14.485281, 20.0, 1.7, 0.1}) {
    EXPECT_EQ(as_written(static_cast<float>(value)), value);
  }
}

TEST(SettingsEdits, Preset_IsRecognised) {
  PipelineConfig config;
  EXPECT_EQ(preset_of(config.lattice), nullptr);
  for (const FoveaPreset& preset : kFoveaPresets) {
    set_preset(config, preset);
    EXPECT_EQ(preset_of(config.lattice), &preset);
  }
  set_fovea(config, 2.3, 2.4);
  EXPECT_EQ(preset_of(config.lattice), nullptr);
}

TEST(SettingsEdits, AnotherLattice_KeepsNAndTheAcuity) {
  PipelineConfig config;
  set_patches(config, 500);
  set_lattice_kind(config, LatticeKind::kGrid);
  EXPECT_EQ(patches_asked(config.lattice), 500);
  EXPECT_EQ(acuity_of(config.lattice), nullptr);
  set_fovea(config, 2.0, 3.0);
  set_lattice_kind(config, LatticeKind::kUniform);
  EXPECT_EQ(patches_asked(config.lattice), 500);
  set_lattice_kind(config, LatticeKind::kNested);
  EXPECT_EQ(config.lattice.shape, (decltype(config.lattice.shape){Acuity{.e0 = 2.0, .m0 = 3.0}}));
  set_lattice_kind(config, LatticeKind::kGrid, 321);  // N followed from the acuity
  EXPECT_EQ(patches_asked(config.lattice), 321);
  EXPECT_EQ(*acuity_of(config.lattice), (Acuity{.e0 = 2.0, .m0 = 3.0}));
}

TEST(SettingsEdits, Adaptive_KeepsItsOptions) {
  PipelineConfig initial;
  initial.lattice.shape = AdaptiveShape{.tokens = 90, .tokens_per_second = 200, .target_psnr = 35, .eye = 0.5};
  PipelineConfig config = initial;
  set_fovea(config, 2.0, 3.0);
  set_preset(config, kFoveaPresets[0]);
  EXPECT_EQ(config.lattice, initial.lattice);
  set_lattice_kind(config, LatticeKind::kNested);
  set_lattice_kind(config, LatticeKind::kAdaptive, 500, adaptive_of(initial));  // as the panel does
  EXPECT_EQ(config.lattice, initial.lattice);
  set_lattice_kind(config, LatticeKind::kGrid);
  reset_lattice_kind(config, initial, 500);
  EXPECT_EQ(config.lattice, initial.lattice);
}

TEST(SettingsEdits, Nested_FollowsEitherNOrE0) {
  PipelineConfig config;
  EXPECT_TRUE(follows_budget(config.lattice));
  set_fovea(config, 2.0, 2.0);
  EXPECT_FALSE(follows_budget(config.lattice));
  const std::size_t by_e0 = make_lattice(config.lattice, kGeometry)->patch_count();
  set_fovea(config, 4.0, 4.0);
  EXPECT_GT(make_lattice(config.lattice, kGeometry)->patch_count(), by_e0);
  set_patches(config, 300);
  EXPECT_TRUE(follows_budget(config.lattice));
  EXPECT_LE(make_lattice(config.lattice, kGeometry)->patch_count(), 300U);
}

}  // namespace
}  // namespace saccade::ui
