// What lies behind a movie in an MP4 file: another one, which is told, or nothing of interest.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string box(const std::string& type, const std::string& body) {
  std::string size(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) size[i] = static_cast<char>((body.size() + 8) >> (24 - 8 * i) & 0xff);
  return size + type + body;
}

// The first box of this type at the top level, whole.
std::string box_of(const std::string& file, const std::string& type) {
  for (std::size_t at = 0; at + 8 <= file.size();) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | static_cast<std::uint8_t>(file[at + i]);
    if (file.compare(at + 4, 4, type) == 0) return file.substr(at, size);
    at += size;
  }
  return "";
}

constexpr const char* kFragments = "-movflags frag_keyframe+empty_moov+default_base_moof ";

// Two seconds with sound; its bytes.
std::string make(const TempDir& dir, const std::string& name, const std::string& options = "",
                 const std::string& size = "96x64", int hue = 0) {
  ffmpeg("-f lavfi -i testsrc2=size=" + size + ":rate=25:duration=2,hue=h=" + std::to_string(hue) +
         ",format=yuv420p -f lavfi -i sine=d=2 -c:v libx264 -preset veryfast -g 12 -bf 2 -c:a aac " + options +
         dir.file(name));
  return read_file(dir.file(name));
}

bool is_noted(const StreamInfo& info, std::size_t byte) {
  const std::string wanted = "a second video begins at byte " + std::to_string(byte) + " ";
  for (const std::string& note : info.notes) {
    if (note.starts_with(wanted)) return true;
  }
  return false;
}

struct Pair {
  const char* name;
  const char* first;
  const char* second;
};

class MoviesJoined : public testing::TestWithParam<Pair> {};

TEST_P(MoviesJoined, EndToEnd_TellWhatIsNotRead) {
  const TempDir dir;
  const std::string end = std::filesystem::path(GetParam().name).extension();
  const std::string first = make(dir, "first" + end, GetParam().first);
  const std::string second = make(dir, "second" + end, GetParam().second, "96x64", 90);
  write_file(dir.file(GetParam().name), first + second);
  const Recording got = record(dir.file(GetParam().name));
  EXPECT_EQ(got.all_bytes(), ffmpeg_raw("", dir.file("first" + end), ""));
  EXPECT_TRUE(got.counters.truncated);
  EXPECT_TRUE(is_noted(got.info, first.size()));
}

INSTANTIATE_TEST_SUITE_P(Layouts, MoviesJoined,
                         testing::Values(Pair{"late_late.mp4", "", ""}, Pair{"late_late.mov", "", ""},
                                         Pair{"fast_fast.mp4", "-movflags faststart ", "-movflags faststart "},
                                         Pair{"late_fast.mp4", "", "-movflags faststart "},
                                         Pair{"fast_late.mov", "-movflags faststart ", ""}),
                         [](const auto& pair) { return test_name(pair.param.name); });

class MovieFollowed : public testing::TestWithParam<const char*> {
 protected:
  static std::string tail(const std::string& what, const std::string& movie) {
    if (what == "free") return box("free", std::string(5000, '\0'));
    if (what == "uuid") return box("uuid", std::string(16, 'u') + std::string(900, 'x'));
    if (what == "media") return box("mdat", std::string(4000, 'm'));  // a track that was cut off
    if (what == "spare") return box_of(movie, "moov");
    if (what == "spare_padded") return box("free", "") + box_of(movie, "moov") + box("mdat", "");
    if (what == "junk") return "junk!";
    if (what == "zeros") return std::string(3000, '\0');
    if (what == "half_header") return std::string("\0\0\1", 3);
    return "JFIF" + std::string(500, '\xff') + "moov" + std::string(40, '\1');
  }
};

TEST_P(MovieFollowed, ByWhatIsNoMovie_IsWhole) {
  const TempDir dir;
  for (const char* options : {"", "-movflags faststart ", kFragments}) {
    const std::string movie = make(dir, "plain.mp4", options);
    write_file(dir.file("followed.mp4"), movie + tail(GetParam(), movie));
    const Recording got = record(dir.file("followed.mp4"));
    EXPECT_EQ(got.shots.size(), 50U);
    EXPECT_EQ(got.all_bytes(), ffmpeg_raw("", dir.file("plain.mp4"), ""));
    EXPECT_FALSE(got.counters.truncated) << options;
    EXPECT_TRUE(got.info.notes == record(dir.file("plain.mp4")).info.notes) << options;
  }
}

INSTANTIATE_TEST_SUITE_P(Tails, MovieFollowed,
                         testing::Values("free", "uuid", "media", "spare", "spare_padded", "junk", "zeros",
                                         "half_header", "text"),
                         [](const auto& tail) { return test_name(tail.param); });

TEST(Movies, FragmentsOfTheSameHeaders_AreAllRead) {
  const TempDir dir;
  const std::string first = make(dir, "first.mp4", kFragments);
  const std::string second = make(dir, "second.mp4", kFragments, "96x64", 90);
  write_file(dir.file("both.mp4"), first + second);
  Recording got = record(dir.file("both.mp4"));
  std::vector<std::uint8_t> truth = ffmpeg_raw("", dir.file("first.mp4"), "");
  for (const std::uint8_t byte : ffmpeg_raw("", dir.file("second.mp4"), "")) truth.push_back(byte);
  ASSERT_EQ(got.shots.size(), 100U);
  EXPECT_TRUE(got.all_bytes() == truth);
  EXPECT_FALSE(got.counters.truncated);
  SourceConfig config;
  config.uri = dir.file("both.mp4");
  expect_starts(config, got, {10, 49, 60, 90});
}

TEST(Movies, FragmentsOfOtherHeaders_AreTold) {
  const TempDir dir;
  const std::string first = make(dir, "first.mp4", kFragments);
  write_file(dir.file("both.mp4"), first + make(dir, "second.mp4", kFragments, "128x96"));
  const Recording got = record(dir.file("both.mp4"));
  EXPECT_TRUE(got.counters.truncated);
  EXPECT_TRUE(is_noted(got.info, first.size()));
}

// Other containers after which FFmpeg stops.
TEST(Movies, FilesJoined_AreTold) {
  const TempDir dir;
  for (const auto& [name, codec] :
       {std::pair("a.flv", "-c:v flv1"), {"a.wmv", "-c:v wmv2"}, {"a.gif", ""}, {"a.png", "-f apng"}}) {
    for (const std::string sound : {"", " -f lavfi -i sine=d=3"}) {
      if (!sound.empty() && (name == std::string("a.gif") || name == std::string("a.png"))) continue;
      ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=2" + sound + " " + codec + " " + dir.file(name));
      const std::string file = read_file(dir.file(name));
      write_file(dir.file(std::string("two_") + name), file + file);
      const Recording one = record(dir.file(name));
      const Recording two = record(dir.file(std::string("two_") + name));
      EXPECT_FALSE(one.counters.truncated) << name;
      EXPECT_TRUE(two.counters.truncated) << name;
      EXPECT_EQ(two.all_bytes(), one.all_bytes()) << name;
    }
  }
}

// A phone's motion photo: a JPEG with a video behind it is that JPEG.
TEST(Movies, BehindAPicture_AreLeftAlone) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=96x64 -frames:v 1 -pix_fmt yuvj420p " + dir.file("plain.jpg"));
  write_file(dir.file("motion.jpg"), read_file(dir.file("plain.jpg")) + make(dir, "movie.mp4"));
  const Recording got = record(dir.file("motion.jpg"));
  EXPECT_EQ(got.all_bytes(), record(dir.file("plain.jpg")).all_bytes());
  EXPECT_FALSE(got.counters.truncated);
}

}  // namespace
}  // namespace saccade::test
