// Every file of the shared media set against what its manifest says, measured by ffmpeg and by arithmetic.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "pipeline/error.h"
#include "pipeline/source/open.h"
#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path media_dir() { return fs::path(SACCADE_SOURCE_DIR) / ".." / "shared" / "media" / "made"; }

const std::map<std::string, std::string> kNoColours = {
    {"rot_rot45.mp4",
     "the truth is rotated by 45 degrees in the same canvas; we leave such a picture as it is and say so"},
};

const std::map<std::string, std::string> kFirstFrameOnly = {
    {"rot_sei90.mp4",
     "its SEI message holds until the next one (repetition period 1, H.264 D.2.27); ffmpeg rotates one frame"},
};

const std::map<std::string, std::string> kOtherTimesByVersion = {
    {"gif_delay_zero.gif",
     "the manifest is FFmpeg 5's, where a delay of 1 cs counts as none; later ones take it as it is"},
};

constexpr std::int64_t kMaxPixels = 16384 * 8192;  // more is refused unless max-pixels allows it

json load_manifest() {
  std::ifstream file(media_dir() / "manifest.json");
  return file ? json::parse(file) : json::object();
}

std::vector<std::string> entries() {
  std::vector<std::string> names;
  const json manifest = load_manifest();
  for (const auto& [name, entry] : manifest.items()) {
    if (name[0] != '_' && entry.contains("expect")) names.push_back(name);
  }
  return names.empty() ? std::vector<std::string>{""} : names;
}

// Entries that are not on disk are made: copies of base.mp4 under hard names, an empty directory, nothing at all.
std::string place(const std::string& name, const TempDir& dir) {
  if (name.starts_with("names/")) {
    std::string leaf = name.substr(6);
    if (const std::size_t at = leaf.find("\\xe9"); at != std::string::npos) leaf.replace(at, 4, "\xe9");
    const std::string path = dir.file(leaf);
    fs::copy_file(media_dir() / "base.mp4", path);
    return path;
  }
  if (name.ends_with("/")) {
    fs::create_directory(dir.file("directory.mp4"));
    return dir.file("directory.mp4");
  }
  if (name.starts_with("(missing)")) return dir.file("missing.mp4");
  return (media_dir() / name).string();
}

void check_times(const std::string& name, const std::string& path, const json& entry, const Recording& got) {
  const std::vector<std::int64_t> times = got.times_ns();
  for (std::size_t i = 1; i < times.size(); ++i) ASSERT_GT(times[i], times[i - 1]) << "frame " << i;
  json wanted = entry.contains("best_effort") ? entry["best_effort"] : entry.value("pts", json::array());
  if (kOtherTimesByVersion.contains(name)) wanted = ffprobe_times(path);
  for (std::size_t i = 0; i < wanted.size() && i < times.size(); ++i) {
    if (wanted[i].is_null()) continue;
    EXPECT_NEAR(static_cast<double>(times[i]) * 1e-9, wanted[i].get<double>(), 1e-6) << "frame " << i;
  }
  if (entry.contains("pts_first")) {
    EXPECT_NEAR(static_cast<double>(times.front()) * 1e-9, entry["pts_first"].get<double>(), 1e-6);
  }
  if (entry.contains("pts_last") && got.counters.pts_not_rising == 0) {
    EXPECT_NEAR(static_cast<double>(times.back()) * 1e-9, entry["pts_last"].get<double>(), 1e-6);
  }
}

// Tolerance of the manifest: 3, and 0 for RGB sources; alpha is rounded when it is composited. Deep RGB: 1, because the
// truth there is swscale's v + 128 >> 8, and ours zimg's exact v / 257.
double tolerance_of(const json& entry, bool has_alpha) {
  if (entry.contains("tolerance")) return entry["tolerance"];
  if (entry.value("range_matrix", "") != "rgb") return 3.0;
  return has_alpha || entry["picture"][0]["pix_fmt"] == "rgb48be" ? 1.0 : 0.0;
}

void check_colours(const std::string& name, const json& entry, const Recording& got) {
  const bool tone_mapped = entry.contains("sdr_tonemap_hable_npl100");
  const json frames = entry.value("expected_rgb", json::object());
  for (const auto& [index, probes] : frames.items()) {
    const auto frame = static_cast<std::size_t>(std::stoul(index));
    if (frame >= got.shots.size() || (frame > 0 && kFirstFrameOnly.contains(name))) continue;
    for (const auto& [where, probe] : probes.items()) {
      if (tone_mapped && where != "BG") continue;  // how saturated colours roll off is a matter of taste
      const int x = probe["xy"][0], y = probe["xy"][1];
      const std::array<double, 3> rgb = rgb_at(got.shots[frame].view, x, y);
      const json wanted = tone_mapped ? entry["sdr_tonemap_hable_npl100"][where] : probe["rgb"];
      const bool has_alpha = wanted.size() == 4;
      const double alpha = has_alpha ? wanted[3].get<double>() / 255.0 : 1.0;
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(rgb[c], wanted[c].get<double>() * alpha, tolerance_of(entry, has_alpha) + 0.5)
            << "frame " << frame << " " << where << " (" << x << "," << y << ") channel " << c;
      }
    }
  }
}

void check_frame_ids(const json& entry, const Recording& got) {
  if (entry.contains("interlaced")) return;  // each field has its own number
  if (!entry.contains("frame_ids") || got.info.rotation_deg != 0 || got.info.mirrored) return;
  const json& ids = entry["frame_ids"];
  for (std::size_t i = 0; i < ids.size() && i < got.shots.size(); ++i) {
    if (!ids[i].is_number()) break;  // "...": only the first ones are listed
    const FrameView& view = got.shots[i].view;
    int id = 0;
    for (int bit = 0; bit < 8; ++bit) {
      const int x = (2 * bit + 1) * view.width_px / 16;
      if (rgb_at(view, x, view.height_px * 11 / 16)[1] > 180.0) id |= 1 << bit;
    }
    EXPECT_EQ(id, ids[i].get<int>()) << "frame " << i;
  }
}

// ffmpeg's options of an input as ours.
SourceConfig config_of(const json& entry, const std::string& path) {
  SourceConfig config;
  config.uri = path;
  const std::map<std::string, std::string InputHints::*> hints = {{"-f", &InputHints::format},
                                                                  {"-video_size", &InputHints::size},
                                                                  {"-framerate", &InputHints::rate},
                                                                  {"-pixel_format", &InputHints::pixel_format}};
  std::istringstream words(entry.value("input_options", ""));
  for (std::string key, value; words >> key >> value;) {
    if (hints.contains(key)) config.input.*hints.at(key) = value;
  }
  return config;
}

std::size_t frames_of(const json& entry) {
  if (entry.contains("decoded_frames")) return entry["decoded_frames"];
  const bool has_gap = entry["situation"].get<std::string>().find("number 4 missing") != std::string::npos;
  return has_gap ? 3 : entry["files"].get<std::size_t>();
}

std::int64_t pixels_of(const json& entry) {
  if (!entry.contains("display")) return 0;
  return entry["display"]["w"].get<std::int64_t>() * entry["display"]["h"].get<std::int64_t>();
}

std::unique_ptr<FrameSource> open_path(const std::string& path) {
  SourceConfig config;
  config.uri = path;
  return open_source(config);
}

class Manifest : public testing::TestWithParam<std::string> {};

TEST_P(Manifest, EachFile_IsDecodedAsMeasured) {
  if (GetParam().empty()) GTEST_SKIP() << "no ../shared/media here";
  const json entry = load_manifest()[GetParam()];
  const TempDir dir;
  const std::string path = place(GetParam(), dir);
  const std::string expect = entry["expect"];
  if (expect == "refuse") {
    EXPECT_THROW(open_path(path), InputError);
    return;
  }
  if (entry.value("attached_pic", false)) {
    EXPECT_THROW(open_path(path), InputError) << "a cover picture is no video";
    return;
  }
  const SourceConfig config = config_of(entry, path);
  if (config.input.format == "rawvideo") {
    EXPECT_THROW(open_path(path), InputError) << "it says nothing about itself";
  }
  if (pixels_of(entry) > kMaxPixels) {
    EXPECT_THROW(open_path(path), InputError) << "over the limit on memory";
    return;
  }
  const Recording got = record(config);
  EXPECT_EQ(got.status, ReadStatus::kEnd) << got.fault.what;
  EXPECT_EQ(got.shots.size(), frames_of(entry));
  ASSERT_FALSE(got.shots.empty());
  check_times(GetParam(), path, entry, got);
  if (entry.contains("display")) {
    for (const Shot& shot : got.shots) {
      EXPECT_EQ(shot.view.width_px, entry["display"]["w"].get<int>());
      EXPECT_EQ(shot.view.height_px, entry["display"]["h"].get<int>());
    }
  }
  if (!kNoColours.contains(GetParam())) check_colours(GetParam(), entry, got);
  check_frame_ids(entry, got);
  const bool damaged = got.counters.truncated || got.counters.packets_corrupt > 0 || got.counters.frames_corrupt > 0;
  if (expect == "partial") {
    EXPECT_TRUE(damaged) << "damage has to show in the counters";
  } else {
    EXPECT_FALSE(damaged) << "an intact file is taken for a damaged one";
  }
}

INSTANTIATE_TEST_SUITE_P(Made, Manifest, testing::ValuesIn(entries()), [](const auto& entry) {
  return std::to_string(entry.index) + "_" + test_name(entry.param.substr(0, 28));  // a file's name may be long
});

}  // namespace
}  // namespace saccade::test
