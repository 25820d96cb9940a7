// Options by name: what is printed is read back, names stand once, and what is wrong is said without a command line.
#include "pipeline/options/stream_options.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/options/option_error.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Random = std::mt19937_64;

std::string one_of(const std::vector<std::string>& words, Random& random) { return words[random() % words.size()]; }

std::string integer_between(double lo, double hi, Random& random) {
  std::uniform_int_distribution<std::int64_t> pick(static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi));
  return std::to_string(pick(random));
}

std::string number_between(double lo, double hi, Random& random) {
  const double share = std::pow(std::uniform_real_distribution<double>(0, 1)(random), 8);  // small ones, too
  return fmt::format("{}", std::clamp(lo + (hi - lo) * share, lo, hi));
}

// Any text that the option takes, not always in its canonical spelling.
std::string random_text(const OptionSpec& spec, Random& random) {
  if (spec.name == "fixation") {
    return one_of({"novelty", "saliency", "center", "center:0.25,0.75", "random", "raster", "raster:5x2",
                   "file:a b.csv", "file:x:y"},
                  random);
  }
  if (spec.name == "gaze-units") return one_of({"auto", "norm", "norm-up", "px,ms", "px:640x480+10+-20", "us"}, random);
  if (spec.name == "ignore") return one_of({"1,2,3,4", "0.5,0,.25,1; mask.png", "a b.png\n10,10,5,5"}, random);
  if (spec.name == "fovea") return one_of({"128", "192px", "4deg", "0.5deg", "1e2", "77.25px"}, random);
  if (spec.name == "context") return one_of({"4000", "30s", "0.5s", "1e2s"}, random);
  if (spec.name == "input-format") return one_of({"rawvideo", "h264", "mjpeg"}, random);
  if (spec.name == "input-size") return one_of({"640x480", "1x1", "hd720"}, random);
  if (spec.name == "patch-size") return std::to_string(2 * (1 + random() % 128));
  switch (spec.kind) {
    case ValueKind::kFlag:
      return one_of({"true", "false"}, random);
    case ValueKind::kText:
      return one_of({"a", "scale=w=64:h=48,hflip", "\"quoted\" and ü", "1"}, random);
    case ValueKind::kChoice:
      return one_of(split(spec.choices, '|'), random);
    case ValueKind::kInteger:
      return (random() % 4 == 0 && spec.lo >= 0 ? "00" : "") + integer_between(spec.lo, spec.hi, random);
    case ValueKind::kNumber:
      return random() % 4 == 0 ? integer_between(std::ceil(spec.lo), spec.hi, random)
                               : number_between(spec.lo, spec.hi, random);
    case ValueKind::kIntegers: {
      std::string list = integer_between(spec.lo, spec.hi, random);
      for (std::size_t more = random() % 4; more > 0; --more) list += "," + integer_between(spec.lo, spec.hi, random);
      return list;
    }
    case ValueKind::kWordOrInteger:
      return random() % 2 == 0 ? one_of(split(spec.choices, '|'), random) : integer_between(spec.lo, spec.hi, random);
  }
  return "";
}

std::string all_printed(const StreamOptions& options) {
  std::string text;
  for (const StreamOption& row : stream_options()) {
    text += fmt::format("{}={}\n", row.spec.name, row.binding.print(options).value_or("unset"));
  }
  return text;
}

TEST(StreamOptions, PrintedTexts_ReadBackToTheSameValues) {
  Random random(71);
  for (int trial = 0; trial < 300; ++trial) {
    StreamOptions options;
    for (const StreamOption& row : stream_options()) {
      if (random() % 3 == 0) continue;
      const std::string text = random_text(row.spec, random);
      ASSERT_NO_THROW(set_option(options, row.spec.name, text)) << row.spec.name << " " << text;
      const auto printed = get_option(options, row.spec.name);
      ASSERT_TRUE(printed) << row.spec.name << " " << text;
      // Twice printed is once printed: it is the canonical text.
      StreamOptions other;
      set_option(other, row.spec.name, *printed);
      ASSERT_EQ(get_option(other, row.spec.name), printed) << row.spec.name << " " << text;
    }
    StreamOptions read_back;
    for (const StreamOption& row : stream_options()) {
      const auto printed = get_option(options, row.spec.name);
      if (printed) set_option(read_back, row.spec.name, *printed);
    }
    ASSERT_EQ(all_printed(read_back), all_printed(options)) << "trial " << trial;
  }
}

// A row that prints something else than it has read would pass above.
TEST(StreamOptions, AnotherValue_PrintsAnotherText) {
  Random random(72);
  for (const StreamOption& row : stream_options()) {
    std::set<std::string> given, printed;
    for (int trial = 0; trial < 40; ++trial) {
      StreamOptions first;
      set_option(first, row.spec.name, random_text(row.spec, random));
      const std::string canonical = get_option(first, row.spec.name).value();
      StreamOptions second;
      set_option(second, row.spec.name, canonical);
      given.insert(canonical);
      printed.insert(get_option(second, row.spec.name).value());
      EXPECT_EQ(all_printed(first), all_printed(second)) << row.spec.name;
    }
    EXPECT_EQ(given, printed) << row.spec.name;
    EXPECT_GE(given.size(), 2U) << row.spec.name;
  }
}

TEST(StreamOptions, Defaults_AreWhatTheStructsAreBornWith) {
  const StreamOptions fresh;
  for (const StreamOption& row : stream_options()) {
    if (row.spec.default_text.empty()) {
      EXPECT_EQ(row.binding.print(fresh), std::nullopt) << row.spec.name;
      continue;
    }
    StreamOptions set;
    set_option(set, row.spec.name, row.spec.default_text);
    if (row.spec.name == "threshold") set.threshold_given = false;
    EXPECT_EQ(all_printed(set), all_printed(fresh)) << row.spec.name;
    EXPECT_EQ(set.pipeline.diff, fresh.pipeline.diff);
    EXPECT_EQ(set.pipeline.samples, fresh.pipeline.samples);
  }
}

TEST(StreamOptions, TwoWordsForOneValue_KeepTheOneThatWasUsed) {
  StreamOptions options;
  for (const char* text : {"1", "frame", "fixation", "3"}) {
    set_option(options, "every", text);
    EXPECT_EQ(get_option(options, "every"), text);
  }
  for (const char* text : {"0", "false", "true", "2"}) {
    set_option(options, "loop", text);
    EXPECT_EQ(get_option(options, "loop"), text);
  }
}

TEST(StreamOptions, InputFormat_SetsWhatItsPartsSay) {
  StreamOptions options;
  set_option(options, "input-format", "rawvideo:video_size=1920x1080:pixel_format=nv12:framerate=30000/1001");
  EXPECT_EQ(get_option(options, "input-format"), "rawvideo");
  EXPECT_EQ(get_option(options, "input-size"), "1920x1080");
  EXPECT_EQ(get_option(options, "pixel-format"), "nv12");
  EXPECT_EQ(get_option(options, "input-rate"), "30000/1001");
  set_option(options, "input-format", "framerate=12");
  EXPECT_EQ(get_option(options, "input-format"), "rawvideo");
  EXPECT_EQ(get_option(options, "input-rate"), "12");
  const std::string before = all_printed(options);
  for (const char* bad : {"", ":framerate=5", "h264:", "h264:30", "h264:video_size=64by64",
                          "h264:framerate=", "size=64x64", "pixel_format=gray:rgb24"}) {
    EXPECT_THROW(set_option(options, "input-format", bad), UsageError) << bad;
    EXPECT_EQ(all_printed(options), before) << bad;
  }
}

TEST(StreamOptions, Lattice_OfUniformTakesALevel) {
  StreamOptions options;
  set_option(options, "lattice", "uniform:1.5");
  EXPECT_EQ(get_option(options, "lattice"), "uniform");
  EXPECT_EQ(get_option(options, "lod"), "1.5");
  const std::string before = all_printed(options);
  for (const char* bad : {"grid:1", "uniform:", "uniform:x", "uniform:99", ":1"}) {
    EXPECT_THROW(set_option(options, "lattice", bad), UsageError) << bad;
    EXPECT_EQ(all_printed(options), before) << bad;
  }
}

TEST(StreamOptions, UnknownName_SaysTheNearest) {
  StreamOptions options;
  const auto error_of = [&](const char* name) -> std::string {
    try {
      set_option(options, name, "1");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of("treshold"), "unknown option 'treshold'; did you mean 'threshold'?");
  EXPECT_EQ(error_of("patch_size"), "unknown option 'patch_size'; did you mean 'patch-size'?");
  EXPECT_EQ(error_of("patchs"), "unknown option 'patchs'");  // `patches` leaves with the next version
  EXPECT_EQ(error_of("min-pixels"), "unknown option 'min-pixels'; it is called 'min-samples' now");
  EXPECT_EQ(error_of("nonsense-of-some-length"), "unknown option 'nonsense-of-some-length'");
  EXPECT_THROW(get_option(options, "treshold"), UsageError);
}

TEST(StreamOptions, BadValue_NamesTheOptionAndChangesNothing) {
  for (const auto& [name, text] : {std::pair{"threshold", "256"},
                                   {"threshold", ""},
                                   {"levels", "0"},
                                   {"rate", "nan"},
                                   {"patch-size", "7"},
                                   {"every", "fixations"},
                                   {"dtype", "u16"},
                                   {"fixation", "stare"},
                                   {"fixation", "file"},
                                   {"strides", "1,2,x"},
                                   {"loop", "-1"},
                                   {"hwdec", "maybe"},
                                   {"preset", "eagle"},
                                   {"vf", ""},
                                   {"live-policy", "drop"},
                                   {"lattice", "round"},
                                   {"normalize", "none,clip"},
                                   {"allow-network", "yes"},
                                   {"fixation", "random:3"}}) {
    StreamOptions options;
    const std::string before = all_printed(options);
    try {
      set_option(options, name, text);
      FAIL() << name << " took " << text;
    } catch (const OptionError& error) {
      EXPECT_EQ(error.option(), name);
      EXPECT_TRUE(std::string(error.what()).starts_with(fmt::format("{}: ", name))) << error.what();
      EXPECT_THAT(error.what(), Not(HasSubstr("--")));
    }
    EXPECT_EQ(all_printed(options), before);
  }
}

TEST(StreamOptions, NoWordOfTheTable_NamesAFlag) {
  for (const StreamOption& row : stream_options()) {
    for (const std::string_view text : {row.spec.help, row.spec.more}) {
      EXPECT_EQ(text.find("--"), std::string_view::npos) << row.spec.name;
      for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
        const std::string_view name = text.substr(at + 1, text.find('}', at) - at - 1);
        EXPECT_NE(find_stream_option(name), nullptr) << row.spec.name << " speaks of " << name;
      }
    }
  }
}

TEST(StreamOptions, ChoicesOfBackends_AreThoseThatThereAre) {
  std::string reason, listed;
  try {
    static_cast<void>(choose_backend("no such backend", reason));
  } catch (const UsageError& error) {
    listed = error.what();
  }
  std::string choices;
  for (const std::string& word : split(find_stream_option("backend")->spec.choices, '|')) {
    choices += (choices.empty() ? "" : ", ") + word;
  }
  EXPECT_THAT(listed, ::testing::EndsWith("it is one of " + choices));
}

template <NamedEnum E>
void expect_names() {
  std::set<std::string> names;
  for (const EnumName<E>& row : names_of(E{})) {
    EXPECT_EQ(static_cast<std::size_t>(row.value), names.size()) << row.text;  // all of them, in their order
    EXPECT_TRUE(names.insert(row.text).second) << row.text;
    EXPECT_STREQ(name(row.value), row.text);
    EXPECT_EQ(from_name<E>(row.text), row.value);
  }
  EXPECT_EQ(from_name<E>("no such name"), std::nullopt);
  EXPECT_EQ(from_name<E>(""), std::nullopt);
  EXPECT_STREQ(name(static_cast<E>(names.size())), "?");
}

TEST(EnumNames, EveryName_GoesBothWays) {
  expect_names<LatticeKind>();
  expect_names<FoveaUnit>();
  expect_names<FixationPolicy>();
  expect_names<Deinterlace>();
  expect_names<HwDecode>();
  expect_names<QueuePolicy>();
  expect_names<SampleType>();
  expect_names<UploadPath>();
  expect_names<ErrorKind>();
  expect_names<Stage>();
  expect_names<CaptureClock>();
  expect_names<PixelLayout>();
  expect_names<TextureFormat>();
  expect_names<DeviceTime::Work>();
}

TEST(OptionError, Caller_SpellsOptionsItsWay) {
  const OptionError conflict = OptionError::naming("e0", "conflicts with {preset}: a preset sets e0");
  EXPECT_STREQ(conflict.what(), "e0: conflicts with preset: a preset sets e0");
  const std::vector<NamedOption> named = conflict.fault().options;
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].name, "e0");
  EXPECT_EQ(named[0].at, 0U);
  EXPECT_EQ(named[1].name, "preset");
  EXPECT_EQ(named[1].at, std::string("e0: conflicts with ").size());
  EXPECT_FALSE(named[1].advised);
  const OptionError value = OptionError::naming("upload", "no GPU; use {+backend} gl", "pbo");
  EXPECT_STREQ(value.what(), "upload pbo: no GPU; use backend gl");
  EXPECT_TRUE(value.fault().options.at(1).advised);
  EXPECT_STREQ(OptionError("vf", "'{e0}' is odd").what(), "vf: '{e0}' is odd");  // a user's text stays as it is
}

}  // namespace
}  // namespace saccade
