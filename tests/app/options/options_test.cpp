#include "app/options/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/options/table.h"
#include "pipeline/error.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

struct Parsed {
  std::optional<Options> options;
  int exit_code = -1;
  std::string out, err;
};

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "saccade");
  Parsed parsed;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  parsed.options = parse_options(static_cast<int>(words.size()), words.data(), parsed.exit_code);
  parsed.out = testing::internal::GetCapturedStdout();
  parsed.err = testing::internal::GetCapturedStderr();
  return parsed;
}

Options good(std::vector<const char*> more) {
  more.insert(more.begin(), {"dump", "clip.mp4", "-o", "out"});
  const Parsed parsed = parse(more);
  EXPECT_TRUE(parsed.options) << parsed.err;
  return parsed.options ? *parsed.options : Options{};
}

TEST(OptionTable, Always_HasUniqueNamesAndValidDefaults) {
  std::set<std::string_view> names;
  for (const ProgramOption& option : option_table()) {
    const OptionSpec& spec = option.spec();
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    if (spec.default_text.empty()) continue;
    Options options;
    option.parse(options, spec.default_text);
    EXPECT_EQ(option.print(options), spec.default_text) << spec.name;
  }
}

// The defaults in the table are the ones the structs are born with.
TEST(OptionTable, Defaults_EqualTheConfigs) {
  const Options options = good({});
  const PipelineConfig fresh;
  EXPECT_EQ(options.pipeline.levels, fresh.levels);
  EXPECT_EQ(options.pipeline.diff, fresh.diff);
  EXPECT_EQ(options.pipeline.samples, fresh.samples);
  LatticeConfig lattice = fresh.lattice;  // by itself a lattice is nested
  lattice.shape = AdaptiveShape{};
  EXPECT_EQ(options.pipeline.lattice, lattice);
  EXPECT_EQ(options.pipeline.scanpath.policy, fresh.scanpath.policy);
  EXPECT_EQ(options.pipeline.scanpath.rate_hz, fresh.scanpath.rate_hz);
  EXPECT_EQ(options.pipeline.scanpath.seed, fresh.scanpath.seed);
  EXPECT_EQ(options.pipeline.scanpath.fov_deg, fresh.scanpath.fov_deg);
  EXPECT_EQ(options.pipeline.emit.kind, fresh.emit.kind);
  EXPECT_EQ(options.source.loops, 0);
  EXPECT_EQ(options.source.start_s, 0);
  EXPECT_FALSE(options.source.duration_s);
  EXPECT_EQ(options.profile.budget_ms, ProfileOptions{}.budget_ms);
}

// Of the program's own options; tests/pipeline/options has those of a stream.
TEST(OptionTable, PrintedTexts_ReadBackToTheSameValues) {
  const std::map<std::string_view, std::vector<std::string>> some{
      {"view", {"frame", "foveated", "level:0", "level:11", "split", "compare:grid", "compare:uniform"}},
      {"views", {"qwen2.5-vl", "qwen3-vl:1024"}},
      {"show", {"none", "marks", "outlines,panel", "panel,marks,outlines,scanpath"}},
      {"size", {"16x16", "1920x1080", "0640x480"}},
      {"manifest", {"clips.csv", "/data/rows.jsonl"}},
      {"segment", {"0.5", "600", "1e3"}},
      {"unit-seconds", {"300", "0.25"}},
      {"unit-bytes", {"1", "1e9"}},
      {"shard", {"0/4", "3/16"}},
      {"claim-seconds", {"0.5", "60"}},
      {"sample", {"1", "100"}},
      {"engine", {"slurm", "ray"}},
      {"cores", {"1", "64"}},
      {"workers-per-gpu", {"1", "8"}},
      {"gpus", {"0", "1,0,3"}},
      {"video-timeout", {"0.5", "3600"}},
      {"frame-timeout", {"0.5", "60"}},
      {"renew-after", {"1", "1000"}},
      {"max-rss", {"4096", "1.5"}},
      {"max-bad", {"0", "2.5", "100"}},
      {"gone", {"k1", "k1,k2"}},
      {"metrics", {"saccade.prom", "/run/saccade.prom"}},
      {"jobs", {"auto", "1", "8"}},
      {"class", {"input", "missing,io,timeout,crash,options"}},
      {"older-than", {"0", "86400"}},
      {"serve", {"auto", "127.0.0.1:0", "unix:/run/view.sock"}},
      {"serve-origin", {"https://hub.example", "https://a.example\nhttp://b.example:8000"}},
      {"screenshot", {"0=a.png", "2.5=b=c.png\n1e3=d e.png"}},
      {"output", {"a", "b/c.mp4"}},
      {"trace", {"t.json", "u"}},
      {"against", {"a.mp4", "b"}},
      {"emission", {"0", "17"}},
      {"budget-ms", {"0.5", "33.3", "1e3"}},
      {"speed", {"0.1", "16", "2"}},
      {"ui-scale", {"0.5", "1.25", "4"}}};
  for (const ProgramOption& option : option_table()) {
    const OptionSpec& spec = option.spec();
    if (option.is_of_stream() || spec.name == "config" || spec.name == "print-config" || spec.name == "set") continue;
    std::vector<std::string> texts = split(spec.kind == ValueKind::kFlag ? "true|false" : spec.choices, '|');
    if (const auto found = some.find(spec.name); found != some.end()) texts = found->second;
    std::set<std::string> printed;
    for (const std::string& text : texts) {
      Options options, again;
      ASSERT_NO_THROW(option.parse(options, text)) << spec.name << " " << text;
      const auto canonical = option.print(options);
      ASSERT_TRUE(canonical) << spec.name << " " << text;
      option.parse(again, *canonical);
      EXPECT_EQ(option.print(again), canonical) << spec.name << " " << text;
      printed.insert(*canonical);
    }
    EXPECT_EQ(printed.size(), texts.size()) << spec.name << ": each value prints its own text";
    EXPECT_GE(printed.size(), 2U) << spec.name;
  }
}

template <NamedEnum E>
void expect_names() {
  std::size_t count = 0;
  for (const EnumName<E>& row : names_of(E{})) {
    EXPECT_EQ(static_cast<std::size_t>(row.value), count++) << row.text;
    EXPECT_STREQ(saccade::name(row.value), row.text);
    EXPECT_EQ(from_name<E>(row.text), row.value);
  }
  EXPECT_EQ(from_name<E>("no such name"), std::nullopt);
}

TEST(EnumNames, OfTheProgram_GoBothWays) {
  expect_names<Command>();
  expect_names<ProgressMode>();
  expect_names<ui::View>();
}

TEST(ParseOptions, ManyOptions_FillTheStructs) {
  const Options o =
      good({"--every",    "5",          "--dtype",   "f16",      "--normalize", "clip",          "--start",
            "1.5",        "--duration", "2",         "--frames", "9",           "--stream",      "1",
            "--fixation", "raster:4x3", "--fov-deg", "60",       "--lattice",   "grid",          "--patches",
            "64",         "--e0",       "3",         "--m0",     "4",           "--live-policy", "latest"});
  EXPECT_EQ(o.inputs, std::vector<std::string>{"clip.mp4"});
  EXPECT_EQ(o.dump.output, "out");
  EXPECT_EQ(o.pipeline.emit.kind, EmitPolicy::Kind::kFrames);
  EXPECT_EQ(o.pipeline.emit.every_frames, 5);
  EXPECT_EQ(o.pipeline.samples.type, SampleType::kF16);
  EXPECT_FLOAT_EQ(o.pipeline.samples.inv_std[0], 1.0F / 0.26862954F);
  EXPECT_EQ(o.source.start_s, 1.5);
  EXPECT_EQ(o.source.duration_s, 2.0);
  EXPECT_EQ(o.source.max_frames, 9);
  EXPECT_EQ(o.source.stream_index, 1);
  EXPECT_EQ(o.pipeline.scanpath.policy, FixationPolicy::kRaster);
  EXPECT_EQ(o.pipeline.scanpath.argument, "4x3");
  EXPECT_EQ(o.pipeline.scanpath.fov_deg, 60);
  EXPECT_EQ(o.pipeline.lattice.fov_deg, 60);
  const GridShape* grid = std::get_if<GridShape>(&o.pipeline.lattice.shape);
  ASSERT_NE(grid, nullptr);
  EXPECT_EQ(grid->patches, 64);
  EXPECT_EQ(grid->acuity, (Acuity{.e0 = 3.0, .m0 = 4.0}));
  EXPECT_EQ(o.queue_policy, QueuePolicy::kLatest);
}

TEST(ParseOptions, Loop_IsAFlagThatMayTakeANumber) {
  EXPECT_EQ(good({}).source.loops, 0);
  EXPECT_EQ(good({"--loop"}).source.loops, -1);
  EXPECT_EQ(good({"--loop=3"}).source.loops, 3);
  const Parsed parsed = parse({"dump", "--loop", "clip.mp4", "-o", "out"});
  ASSERT_TRUE(parsed.options) << parsed.err;
  EXPECT_EQ(parsed.options->inputs, std::vector<std::string>{"clip.mp4"});
}

TEST(ParseOptions, Presets_AreThePublishedOnes) {
  EXPECT_EQ(std::get<Acuity>(good({"--preset", "horton-hoyt", "--lattice", "nested"}).pipeline.lattice.shape).e0, 0.75);
  EXPECT_EQ(std::get<Acuity>(good({"--preset", "rovamo-virsu", "--lattice", "nested"}).pipeline.lattice.shape).m0, 3.0);
  const Options by_uv = good({"--preset", "uv", "--lattice", "grid"});
  const Acuity uv = std::get<GridShape>(by_uv.pipeline.lattice.shape).acuity.value();
  EXPECT_EQ(uv.unit, FoveaUnit::kUv);
  EXPECT_EQ(uv.m0, 1.0);
  EXPECT_EQ(uv.e0, 0.5);
}

TEST(ParseOptions, DashesAndStdin_AreInputs) {
  const Parsed parsed = parse({"dump", "-o", "out", "--seed", "1", "--", "-x.mp4", "--y.mp4"});
  ASSERT_TRUE(parsed.options) << parsed.err;
  EXPECT_EQ(parsed.options->inputs, (std::vector<std::string>{"-x.mp4", "--y.mp4"}));
  const Parsed stdin_too = parse({"dump", "-", "-o", "out"});
  ASSERT_TRUE(stdin_too.options) << stdin_too.err;
  EXPECT_EQ(stdin_too.options->inputs, std::vector<std::string>{"-"});
}

TEST(ParseOptions, OptionsThatShapeTheResult_AreRecorded) {
  const Options o = good({"--rate", "2.50", "--threads", "3"});
  std::set<std::string> names;
  for (const auto& [key, text] : o.in_force) {
    names.insert(key);
    if (key == "rate") {
      EXPECT_EQ(text, "2.5");
    }
  }
  EXPECT_TRUE(names.count("threshold") && names.count("seed") && names.count("every") && names.count("dtype"));
  EXPECT_FALSE(names.count("threads") || names.count("output") || names.count("log-level"));
}

TEST(RecordedOptions, ARenamedOne_IsReadByItsOldName) {
  EXPECT_EQ(recorded_options({{"min-pixels", "3"}, {"backend", "cpu"}}).pipeline.diff.min_samples, 3);
  EXPECT_THROW(recorded_options({{"min-pixel", "3"}, {"backend", "cpu"}}), UsageError);
}

TEST(ParseOptions, BadWords_GiveOneLineAndCodeTwo) {
  for (const auto& words : std::vector<std::vector<const char*>>{{"dump"},
                                                                 {"dump", "a.mp4"},
                                                                 {"dump", "a.mp4", "-o", "x", "--seed"},
                                                                 {"dump", "a.mp4", "-o", "x", "--bogus"},
                                                                 {"watch", "a.mp4"},
                                                                 {"--seed", "1"},
                                                                 {"dump", "", "-o", "x"},
                                                                 {"reconstruct", "a", "b", "-o", "x.png"}}) {
    const Parsed parsed = parse(words);
    EXPECT_FALSE(parsed.options);
    EXPECT_EQ(parsed.exit_code, 2);
    EXPECT_EQ(parsed.out, "");
    EXPECT_EQ(std::count(parsed.err.begin(), parsed.err.end(), '\n'), 1) << parsed.err;
  }
}

TEST(ParseOptions, Reconstruct_TakesADumpsFolder) {
  const Parsed parsed = parse({"reconstruct", "out", "-o", "out.png", "--emission", "4", "--against", "clip.mp4"});
  ASSERT_TRUE(parsed.options) << parsed.err;
  EXPECT_EQ(parsed.options->reconstruct.directory, "out");
  EXPECT_EQ(parsed.options->reconstruct.output, "out.png");
  EXPECT_EQ(parsed.options->reconstruct.emission, 4);
  EXPECT_EQ(parsed.options->reconstruct.against, "clip.mp4");
}

}  // namespace
}  // namespace saccade
