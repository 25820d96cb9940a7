// Frames of the caller's: samples by arithmetic, the same through every pixel format, and what a caller may do wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "tests/capi/handles.h"

namespace saccade::test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr int kWidth = 53, kHeight = 37;  // odd, and no multiple of a tile
constexpr std::int64_t kFrame_ns = 40'000'000;
const Settings kCpu{{"backend", "cpu"},     {"every", "frame"},  {"fixation", "center"},
                    {"lattice", "uniform"}, {"patch-size", "2"}, {"patches", "200"}};

saccade_frame_format format_of(int pixels) {
  auto format = sized<saccade_frame_format>();
  format.pixels = pixels;
  format.width_px = kWidth;
  format.height_px = kHeight;
  return format;
}

StreamHandle open_frames(int pixels, const Settings& settings = kCpu) {
  StreamHandle stream = make_stream(settings);
  const saccade_frame_format format = format_of(pixels);
  EXPECT_EQ(saccade_stream_open_frames(stream.get(), &format), SACCADE_OK) << saccade_last_error();
  return stream;
}

saccade_frame frame_of(std::initializer_list<const void*> planes, std::int64_t index = 0) {
  auto frame = sized<saccade_frame>();
  std::copy(planes.begin(), planes.end(), frame.planes);
  frame.pts_ns = index * kFrame_ns;
  return frame;
}

Taken push_and_take(const StreamHandle& stream, const saccade_frame& frame) {
  std::int32_t due = 0;
  EXPECT_EQ(saccade_stream_push(stream.get(), &frame, &due), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(due, 1);
  return take_next(stream);
}

struct Rgb {
  std::vector<std::uint8_t> r, g, b;
};

Rgb random_rgb(unsigned seed) {
  std::mt19937 random(seed);
  Rgb rgb;
  for (auto* plane : {&rgb.r, &rgb.g, &rgb.b}) {
    plane->resize(kWidth * kHeight);
    for (std::uint8_t& value : *plane) value = static_cast<std::uint8_t>(random());
  }
  return rgb;
}

// With `pad` bytes after each row.
std::vector<std::uint8_t> packed(const Rgb& rgb, bool bgr, int channels, int pad = 0) {
  const std::size_t pitch = kWidth * static_cast<std::size_t>(channels) + static_cast<std::size_t>(pad);
  std::vector<std::uint8_t> out(pitch * kHeight, 0x5a);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const auto i = static_cast<std::size_t>(y * kWidth + x);
      std::uint8_t* const at =
          out.data() + static_cast<std::size_t>(y) * pitch + static_cast<std::size_t>(x * channels);
      at[bgr ? 2 : 0] = rgb.r[i];
      at[1] = rgb.g[i];
      at[bgr ? 0 : 2] = rgb.b[i];
    }
  }
  return out;
}

// A sample whose place is a pixel's centre at lod 0 is that pixel.
void expect_pixels(const Taken& taken, const Rgb& rgb) {
  ASSERT_EQ(taken.status, SACCADE_OK) << saccade_last_error();
  const int size = taken.facts.patch_size;
  int compared = 0;
  for (int n = 0; n < taken.facts.patch_count; ++n) {
    const float* const place = taken.geometry.data() + 4 * n;
    if (place[2] != 0) continue;
    for (int j = 0; j < size; ++j) {
      for (int i = 0; i < size; ++i) {
        const float x = place[0] * kWidth + static_cast<float>(i - size / 2);
        const float y = place[1] * kHeight + static_cast<float>(j - size / 2);
        const int px = static_cast<int>(std::lround(x)), py = static_cast<int>(std::lround(y));
        if (std::abs(x - static_cast<float>(px)) > 1e-3F || std::abs(y - static_cast<float>(py)) > 1e-3F) continue;
        if (px < 0 || py < 0 || px >= kWidth || py >= kHeight) continue;
        const auto pixel = static_cast<std::size_t>(py * kWidth + px);
        const std::uint8_t wanted[3] = {rgb.r[pixel], rgb.g[pixel], rgb.b[pixel]};
        for (int c = 0; c < 3; ++c) {
          const auto at = static_cast<std::size_t>(((n * 3 + c) * size + j) * size + i);
          ASSERT_EQ(taken.patches[at], wanted[c]) << n << " " << c << " " << j << " " << i;
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

const Settings kNested{{"backend", "cpu"}, {"every", "frame"}, {"fixation", "center"}, {"lattice", "nested"}};

TEST(Frames, RgbOfEveryOrder_BecomesItsOwnSamples) {
  const Rgb rgb = random_rgb(3);
  const auto rgb8 = packed(rgb, false, 3), bgr8 = packed(rgb, true, 3, 5), rgba = packed(rgb, false, 4);
  const Taken one = push_and_take(open_frames(SACCADE_PIXELS_RGB8, kNested), frame_of({rgb8.data()}));
  expect_pixels(one, rgb);
  saccade_frame padded = frame_of({bgr8.data()});
  padded.pitches_bytes[0] = kWidth * 3 + 5;
  EXPECT_EQ(push_and_take(open_frames(SACCADE_PIXELS_BGR8, kNested), padded).patches, one.patches);
  EXPECT_EQ(push_and_take(open_frames(SACCADE_PIXELS_RGBA8, kNested), frame_of({rgba.data()})).patches, one.patches);
  const saccade_frame planar = frame_of({rgb.r.data(), rgb.g.data(), rgb.b.data()});
  EXPECT_EQ(push_and_take(open_frames(SACCADE_PIXELS_RGB8_PLANAR, kNested), planar).patches, one.patches);
  saccade_frame bottom_up = frame_of({rgb8.data() + kWidth * 3 * (kHeight - 1)});
  bottom_up.pitches_bytes[0] = -kWidth * 3;
  EXPECT_NE(push_and_take(open_frames(SACCADE_PIXELS_RGB8, kNested), bottom_up).patches, one.patches);
}

TEST(Frames, Gray_IsItsOwnGray) {
  Rgb gray = random_rgb(4);
  gray.g = gray.b = gray.r;
  const Taken taken = push_and_take(open_frames(SACCADE_PIXELS_GRAY8, kNested), frame_of({gray.r.data()}));
  expect_pixels(taken, gray);
}

// The pattern "box" as its planes lie in the texture, pushed by hand: the stream that decodes it gives the same.
TEST(Frames, YCbCr_EqualsTheSourceOfTheSameSamples) {
  const char* const uri = "test://box?size=64x64&frames=6&rate=25";
  const Settings settings{{"backend", "cpu"}, {"every", "frame"}};
  const StreamHandle source = open_stream(uri, settings);
  const StreamHandle planes = make_stream(settings);
  auto format = format_of(SACCADE_PIXELS_NV12);
  format.width_px = format.height_px = 64;
  format.matrix = "bt601";
  format.fps = 25;
  ASSERT_EQ(saccade_stream_open_frames(planes.get(), &format), SACCADE_OK) << saccade_last_error();
  std::vector<std::uint8_t> luma(64 * 64), chroma(64 * 32);
  for (int i = 0; i < 6; ++i) {
    const Taken wanted = take_next(source);
    ASSERT_EQ(wanted.status, SACCADE_OK);
    ASSERT_EQ(saccade_stream_read_level(source.get(), 0, 0, luma.data(), luma.size()), SACCADE_OK);
    ASSERT_EQ(saccade_stream_read_level(source.get(), 1, 0, chroma.data(), chroma.size()), SACCADE_OK);
    saccade_frame frame = frame_of({luma.data(), chroma.data()});
    frame.pts_ns = wanted.facts.pts_ns;
    const Taken taken = push_and_take(planes, frame);
    EXPECT_EQ(taken.patches, wanted.patches) << i;
    EXPECT_EQ(taken.changed, wanted.changed) << i;
    EXPECT_EQ(taken.geometry, wanted.geometry) << i;
    EXPECT_EQ(taken.facts.frame, i);
    EXPECT_EQ(taken.facts.damaged_tiles, wanted.facts.damaged_tiles) << i;
  }
}

TEST(Frames, P010_EqualsEightBitsOfTheSameValues) {
  const StreamHandle wide = open_frames(SACCADE_PIXELS_P010), narrow = open_frames(SACCADE_PIXELS_NV12);
  std::vector<std::uint8_t> luma(kWidth * kHeight), chroma((kWidth + 1) / 2 * 2 * ((kHeight + 1) / 2));
  for (std::size_t i = 0; i < luma.size(); ++i) luma[i] = static_cast<std::uint8_t>(i * 7);
  for (std::size_t i = 0; i < chroma.size(); ++i) chroma[i] = static_cast<std::uint8_t>(64 + i % 128);
  const auto widen = [](const std::vector<std::uint8_t>& from) {
    std::vector<std::uint16_t> to;
    for (const std::uint8_t value : from) to.push_back(static_cast<std::uint16_t>(value << 8));
    return to;
  };
  const auto luma16 = widen(luma), chroma16 = widen(chroma);
  const Taken ten = push_and_take(wide, frame_of({luma16.data(), chroma16.data()}));
  const Taken eight = push_and_take(narrow, frame_of({luma.data(), chroma.data()}));
  ASSERT_EQ(ten.patches.size(), eight.patches.size());
  for (std::size_t i = 0; i < ten.patches.size(); ++i) ASSERT_NEAR(ten.patches[i], eight.patches[i], 1) << i;
}

TEST(Frames, IntoOwnMemory_EqualsNext) {
  const Rgb rgb = random_rgb(5);
  const auto rgb8 = packed(rgb, false, 3);
  const StreamHandle one = open_frames(SACCADE_PIXELS_RGB8), other = open_frames(SACCADE_PIXELS_RGB8);
  const Taken wanted = push_and_take(one, frame_of({rgb8.data()}));
  HostRoom room(geometry_of(other));
  const saccade_frame frame = frame_of({rgb8.data()});
  EXPECT_EQ(saccade_stream_next_into(other.get(), -1, &room.target, nullptr), SACCADE_LATER);
  ASSERT_EQ(saccade_stream_push(other.get(), &frame, nullptr), SACCADE_OK);
  ASSERT_EQ(saccade_stream_next_into(other.get(), 0, &room.target, nullptr), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(room.patches, wanted.patches);
  EXPECT_EQ(saccade_stream_next_into(other.get(), -1, &room.target, nullptr), SACCADE_LATER);
}

// The caller's memory is his own again: patches that are taken later hold what was pushed.
TEST(Frames, MemoryWrittenOverAfterwards_ChangesNothing) {
  const Rgb rgb = random_rgb(6);
  auto bytes = packed(rgb, false, 4);
  const StreamHandle stream = open_frames(SACCADE_PIXELS_RGBA8, kNested);
  const saccade_frame frame = frame_of({bytes.data()});
  ASSERT_EQ(saccade_stream_push(stream.get(), &frame, nullptr), SACCADE_OK);
  std::memset(bytes.data(), 0, bytes.size());
  expect_pixels(take_next(stream), rgb);
}

TEST(Frames, Times_SetTheFixations) {
  const auto bytes = packed(random_rgb(7), false, 3);
  const StreamHandle stream =
      open_frames(SACCADE_PIXELS_RGB8, {{"backend", "cpu"}, {"rate", "5"}, {"fixation", "center"}});
  std::vector<std::int64_t> due_at;
  for (std::int64_t i = 0; i < 30; ++i) {
    const saccade_frame frame = frame_of({bytes.data()}, i);
    std::int32_t due = 0;
    ASSERT_EQ(saccade_stream_push(stream.get(), &frame, &due), SACCADE_OK) << saccade_last_error();
    if (due == 0) continue;
    const Taken taken = take_next(stream);
    EXPECT_EQ(taken.facts.pts_ns, i * kFrame_ns);
    due_at.push_back(i);
  }
  EXPECT_THAT(due_at, testing::SizeIs(6));  // 1.2 s at 5 a second, landing at 0, 0.2 + a saccade of no length ...
  EXPECT_EQ(saccade_stream_push_end(stream.get()), SACCADE_OK);
  saccade_emission* none = nullptr;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(saccade_stream_next(stream.get(), -1, &none), SACCADE_END);
  auto end = sized<saccade_stream_end>();
  ASSERT_EQ(saccade_stream_get_end(stream.get(), &end), SACCADE_OK);
  EXPECT_EQ(end.ended, 1);
  EXPECT_EQ(end.broke, 0);
  auto counters = sized<saccade_counters>();
  ASSERT_EQ(saccade_stream_get_counters(stream.get(), &counters), SACCADE_OK);
  EXPECT_EQ(counters.frames, 30);
  EXPECT_EQ(counters.frames_decoded, 30);
  EXPECT_EQ(counters.emissions, 6);
}

TEST(Frames, CallsInTheWrongOrder_SayWhatIsDue) {
  const auto bytes = packed(random_rgb(8), false, 3);
  const saccade_frame frame = frame_of({bytes.data()});
  const StreamHandle none = make_stream(kCpu);
  EXPECT_EQ(saccade_stream_push(none.get(), &frame, nullptr), SACCADE_ERROR_USAGE);
  EXPECT_EQ(saccade_stream_push_end(none.get()), SACCADE_ERROR_USAGE);
  const StreamHandle source = open_stream("test://box?size=64x64&frames=3", kCpu);
  EXPECT_EQ(saccade_stream_push(source.get(), &frame, nullptr), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("saccade_stream_open_frames"));
  const StreamHandle stream = open_frames(SACCADE_PIXELS_RGB8);
  ASSERT_EQ(saccade_stream_push(stream.get(), &frame, nullptr), SACCADE_OK);
  std::int32_t due = 7;
  EXPECT_EQ(saccade_stream_push(stream.get(), &frame, &due), SACCADE_ERROR_USAGE);
  EXPECT_EQ(due, 0);
  EXPECT_THAT(saccade_last_error(), HasSubstr("wait"));
  EXPECT_EQ(take_next(stream).status, SACCADE_OK) << "it is still there";
  ASSERT_EQ(saccade_stream_push(stream.get(), &frame, nullptr), SACCADE_OK);
  ASSERT_EQ(saccade_stream_push_end(stream.get()), SACCADE_OK);
  EXPECT_EQ(take_next(stream).status, SACCADE_OK) << "what is due comes before the end";
  EXPECT_EQ(take_next(stream).status, SACCADE_END);
  EXPECT_EQ(saccade_stream_push(stream.get(), &frame, nullptr), SACCADE_ERROR_USAGE);
  const saccade_frame_format format = format_of(SACCADE_PIXELS_RGB8);
  EXPECT_EQ(saccade_stream_open_frames(stream.get(), &format), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(push_and_take(stream, frame).facts.frame, 0);
}

TEST(Frames, WrongFormatsAndPlanes_AreRefused) {
  const StreamHandle stream = make_stream(kCpu);
  const auto refused = [&](auto&& change) {
    saccade_frame_format format = format_of(SACCADE_PIXELS_NV12);
    change(format);
    EXPECT_LT(saccade_stream_open_frames(stream.get(), &format), 0);
    return std::string(saccade_last_error());
  };
  EXPECT_THAT(refused([](auto& f) { f.pixels = 8; }), HasSubstr("saccade_pixels"));
  EXPECT_THAT(refused([](auto& f) { f.width_px = 0; }), HasSubstr("0x37"));
  EXPECT_THAT(refused([](auto& f) { f.width_px = f.height_px = 1 << 20; }), HasSubstr("limit"));
  EXPECT_THAT(refused([](auto& f) { f.matrix = "bt2020"; }), HasSubstr("bt2020nc"));
  EXPECT_THAT(refused([](auto& f) { f.range = "pc"; }), HasSubstr("limited or full"));
  EXPECT_THAT(refused([](auto& f) { f.sar = -1; }), HasSubstr("sar"));

  const StreamHandle open = open_frames(SACCADE_PIXELS_P010);
  std::vector<std::uint16_t> memory(kWidth * kHeight * 2);
  const auto frame_refused = [&](auto&& change) {
    saccade_frame frame = frame_of({memory.data(), memory.data()});
    change(frame);
    EXPECT_LT(saccade_stream_push(open.get(), &frame, nullptr), 0);
    return std::string(saccade_last_error());
  };
  EXPECT_THAT(frame_refused([](auto& f) { f.planes[1] = nullptr; }), HasSubstr("plane 1 of p010le is missing"));
  EXPECT_THAT(frame_refused([](auto& f) { f.pitches_bytes[0] = kWidth; }), HasSubstr("rows of 106 bytes"));
  EXPECT_THAT(frame_refused([](auto& f) { f.pitches_bytes[0] = 2 * kWidth + 1; }), HasSubstr("aligned"));
  EXPECT_THAT(frame_refused([](auto& f) { f.memory = SACCADE_CUDA; }), HasSubstr("can't read frames on a device"));
  EXPECT_THAT(frame_refused([](auto& f) { f.struct_size = 8; }), HasSubstr("struct_size"));
}

TEST(Frames, TimesThatCantBeCountedWith_AreRefused) {
  constexpr std::int64_t kMost_ns = 4'000'000'000'000'000'000;
  const auto bytes = packed(random_rgb(11), false, 3);
  for (const char* const fixation : {"center", "random", "saliency"}) {
    const StreamHandle stream = make_stream({{"backend", "cpu"}, {"every", "frame"}, {"fixation", fixation}});
    const saccade_frame_format format = format_of(SACCADE_PIXELS_RGB8);
    ASSERT_EQ(saccade_stream_open_frames(stream.get(), &format), SACCADE_OK) << saccade_last_error();
    saccade_frame frame = frame_of({bytes.data()});
    for (const std::int64_t pts_ns : {std::numeric_limits<std::int64_t>::min(), -kMost_ns - 1, kMost_ns + 1,
                                      std::numeric_limits<std::int64_t>::max()}) {
      frame.pts_ns = pts_ns;
      EXPECT_EQ(saccade_stream_push(stream.get(), &frame, nullptr), SACCADE_ERROR_USAGE) << pts_ns;
      EXPECT_EQ(saccade_last_error(), "saccade_stream_push: pts_ns is " + std::to_string(pts_ns) +
                                          "; times are from -4000000000000000000 to 4000000000000000000");
    }
    for (const std::int64_t pts_ns : {-kMost_ns, std::int64_t{0}, kMost_ns, -kMost_ns}) {  // and it falls once
      frame.pts_ns = pts_ns;
      EXPECT_EQ(push_and_take(stream, frame).facts.pts_ns, pts_ns) << fixation;
    }
  }
}

TEST(Frames, Colours_SayWhetherTheyWereGiven) {
  const StreamHandle stream = make_stream(kCpu);
  const auto info_of = [&](int pixels, const char* matrix, const char* range) {
    saccade_frame_format format = format_of(pixels);
    format.matrix = matrix;
    format.range = range;
    EXPECT_EQ(saccade_stream_open_frames(stream.get(), &format), SACCADE_OK) << saccade_last_error();
    auto info = sized<saccade_stream_info>();
    EXPECT_EQ(saccade_stream_get_info(stream.get(), &info), SACCADE_OK) << saccade_last_error();
    return info;
  };
  saccade_stream_info info = info_of(SACCADE_PIXELS_NV12, nullptr, "");
  EXPECT_STREQ(info.matrix, "bt601");
  EXPECT_STREQ(info.range, "limited");
  EXPECT_EQ(info.matrix_tagged, 0);
  EXPECT_EQ(info.range_tagged, 0);
  info = info_of(SACCADE_PIXELS_NV12, "bt601", nullptr);
  EXPECT_EQ(info.matrix_tagged, 1);
  EXPECT_EQ(info.range_tagged, 0);
  info = info_of(SACCADE_PIXELS_I420, "smpte240m", "full");
  EXPECT_STREQ(info.matrix, "smpte240m");
  EXPECT_STREQ(info.range, "full");
  EXPECT_EQ(info.matrix_tagged, 1);
  EXPECT_EQ(info.range_tagged, 1);
  info = info_of(SACCADE_PIXELS_GRAY8, nullptr, nullptr);
  EXPECT_STREQ(info.range, "full");
  EXPECT_EQ(info.range_tagged, 0);
  info = info_of(SACCADE_PIXELS_RGB8, nullptr, nullptr);
  EXPECT_EQ(info.matrix_tagged, 1) << "R'G'B' needs none";
  EXPECT_EQ(info.range_tagged, 1);
}

TEST(Frames, Interrupt_EndsThem) {
  const auto bytes = packed(random_rgb(9), false, 3);
  const saccade_frame frame = frame_of({bytes.data()});
  const StreamHandle stream = open_frames(SACCADE_PIXELS_RGB8);
  ASSERT_EQ(saccade_stream_interrupt(stream.get()), SACCADE_OK);
  EXPECT_EQ(saccade_stream_push(stream.get(), &frame, nullptr), SACCADE_ERROR_INTERRUPTED);
  saccade_emission* none = nullptr;
  EXPECT_EQ(saccade_stream_next(stream.get(), -1, &none), SACCADE_ERROR_INTERRUPTED);
}

TEST(Frames, WithOptionsOfSources_AreRefused) {
  for (const auto& [name, text] : Settings{{"vf", "hflip"},
                                           {"start", "1"},
                                           {"loop", "true"},
                                           {"threads", "2"},
                                           {"input-size", "8x8"},
                                           {"live-policy", "latest"},
                                           {"hwdec", "no"}}) {
    Settings settings = kCpu;
    settings.emplace_back(name, text);
    const StreamHandle stream = make_stream(settings);
    const saccade_frame_format format = format_of(SACCADE_PIXELS_RGB8);
    EXPECT_EQ(saccade_stream_open_frames(stream.get(), &format), SACCADE_ERROR_USAGE) << name;
    EXPECT_STREQ(saccade_last_error_option(nullptr), name) << saccade_last_error();
    EXPECT_EQ(saccade_stream_open(stream.get(), "lavfi:testsrc2=size=64x64"),
              name == std::string("input-size") ? SACCADE_ERROR_USAGE : SACCADE_OK)
        << saccade_last_error();
  }
  Settings defaults = kCpu;
  defaults.emplace_back("threads", "0");
  defaults.emplace_back("live-policy", "auto");
  static_cast<void>(open_frames(SACCADE_PIXELS_RGB8, defaults));
}

TEST(Frames, BeforeTheFirst_NoLevelIsRead) {
  const StreamHandle stream = open_frames(SACCADE_PIXELS_GRAY8);
  auto level = sized<saccade_level>();
  ASSERT_EQ(saccade_stream_get_level(stream.get(), 0, 0, &level), SACCADE_OK) << saccade_last_error();
  std::vector<std::uint8_t> texels(level.size_bytes);
  EXPECT_EQ(saccade_stream_read_level(stream.get(), 0, 0, texels.data(), texels.size()), SACCADE_ERROR_USAGE);
  const std::vector<std::uint8_t> gray(kWidth * kHeight, 9);
  static_cast<void>(push_and_take(stream, frame_of({gray.data()})));
  ASSERT_EQ(saccade_stream_read_level(stream.get(), 0, 0, texels.data(), texels.size()), SACCADE_OK);
  EXPECT_NE(texels.front(), 0);
}

}  // namespace
}  // namespace saccade::test
