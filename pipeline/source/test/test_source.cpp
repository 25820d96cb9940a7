#include "pipeline/source/test/test_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/source/frame/input_name.h"
#include "pipeline/source/test/test_pattern.h"

namespace saccade {
namespace {

constexpr std::array<std::pair<std::string_view, TestPattern>, 6> kPatterns = {{{"static", TestPattern::kStatic},
                                                                                {"box", TestPattern::kBox},
                                                                                {"noise", TestPattern::kNoise},
                                                                                {"pan", TestPattern::kPan},
                                                                                {"fade", TestPattern::kFade},
                                                                                {"cut", TestPattern::kCut}}};

[[noreturn]] void refuse(const std::string& uri, const std::string& what) {
  throw UsageError(
      fmt::format("{}: {}; write test://NAME?size=WxH&rate=R&frames=N&seed=S with NAME one of static, box, "
                  "noise, pan, fade, cut",
                  uri, what));
}

template <typename T>
bool parse_number(std::string_view text, T& out) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  return fault == std::errc() && end == text.data() + text.size();
}

bool parse_pair(std::string_view text, char separator, int& first, int& second) {
  const std::size_t at = text.find(separator);
  return at != std::string_view::npos && parse_number(text.substr(0, at), first) &&
         parse_number(text.substr(at + 1), second) && first > 0 && second > 0;
}

bool parse_rate(std::string_view text, TestSpec& spec) {
  if (parse_pair(text, '/', spec.rate_num, spec.rate_den)) return true;
  double rate = 0;
  if (!parse_number(text, rate) || !(rate >= 0.001) || rate > 1e6) return false;
  spec.rate_num = static_cast<int>(std::lround(rate * 1000));
  spec.rate_den = 1000;
  return true;
}

bool apply_parameter(std::string_view key, std::string_view value, TestSpec& spec) {
  if (key == "size") return parse_pair(value, 'x', spec.width_px, spec.height_px);
  if (key == "rate") return parse_rate(value, spec);
  if (key == "frames") return parse_number(value, spec.frames) && spec.frames > 0;
  if (key == "seed") return parse_number(value, spec.seed);
  return false;
}

// Frames of a test pattern: pure arithmetic from the frame's number, so that seeking is exact.
class TestSource final : public FrameSource {
 public:
  TestSource(const SourceConfig& config, const TestSpec& spec);
  ReadStatus next(Frame& out) override;
  void interrupt() override { *stop_ = true; }
  bool seek(std::int64_t pts_ns) override;
  void recycle(Frame frame) override { empty_frames_.give(frame.release()); }

 private:
  std::int64_t time_ns(std::int64_t index) const;
  AvFramePtr picture(std::int64_t index);

  const TestSpec spec_;
  const std::shared_ptr<std::atomic<bool>> stop_;
  TestPainter painter_;
  I420Pool pool_;
  EmptyFrames empty_frames_;
  std::int64_t begin_ = 0, end_ = 0;  // frames of one play
  std::int64_t plays_ = 1;            // -1: for ever
  std::int64_t limit_;
  std::int64_t play_ = 0, index_ = 0;
  AvFramePtr previous_;  // a reference to the last picture, for the frames that repeat it
  std::int64_t previous_index_ = -1;
};

TestSource::TestSource(const SourceConfig& config, const TestSpec& spec)
    : spec_(spec),
      stop_(config.stop ? config.stop : std::make_shared<std::atomic<bool>>(false)),
      painter_(spec),
      pool_(spec.width_px, spec.height_px),
      limit_(config.max_frames.value_or(-1)) {
  const double rate = static_cast<double>(spec.rate_num) / spec.rate_den;
  const auto frame_at = [&](double seconds) {
    const double exact = std::ceil(seconds * rate - 1e-6 * rate);
    return static_cast<std::int64_t>(std::clamp(exact, 0.0, static_cast<double>(spec.frames)));
  };
  begin_ = frame_at(config.start_s);
  end_ = config.duration_s ? frame_at(config.start_s + *config.duration_s) : spec.frames;
  if (begin_ >= end_) throw_fault(no_frame_in_range(config, config.uri));
  plays_ = config.loops < 0 ? -1 : config.loops + 1;
  index_ = begin_;
  info_.uri = config.uri;
  info_.container = info_.codec = info_.decoder = "test";
  info_.pixel_format = "yuv420p";
  info_.coded_width_px = info_.width_px = spec.width_px;
  info_.coded_height_px = info_.height_px = spec.height_px;
  info_.color.matrix = default_matrix(spec.width_px, spec.height_px);
  info_.matrix_tagged = info_.range_tagged = true;
  info_.fps = rate;
  info_.duration_s = static_cast<double>(spec.frames) / rate;
  info_.frame_count = spec.frames;
}

std::int64_t TestSource::time_ns(std::int64_t index) const {
  const auto seconds = static_cast<long double>(index) * spec_.rate_den / spec_.rate_num;
  return std::llround(seconds * 1e9L);
}

AvFramePtr TestSource::picture(std::int64_t index) {
  const bool repeats = previous_ && previous_index_ + 1 == index && repeats_previous(spec_, index);
  if (repeats) {
    previous_index_ = index;
    return I420Pool::share(*previous_, empty_frames_.take());
  }
  I420Pool::Planes planes;
  AvFramePtr frame = pool_.take(empty_frames_.take(), planes);
  painter_.paint(index, planes);
  empty_frames_.give(std::move(previous_));
  previous_ = I420Pool::share(*frame, empty_frames_.take());
  previous_index_ = index;
  return frame;
}

bool TestSource::seek(std::int64_t pts_ns) {
  play_ = 0;
  index_ = begin_;
  while (index_ < end_ && time_ns(index_) < pts_ns) ++index_;
  return true;
}

ReadStatus TestSource::next(Frame& out) {
  if (*stop_ || (limit_ >= 0 && counters_.frames >= limit_)) return ReadStatus::kEnd;
  if (index_ >= end_) {
    if (plays_ >= 0 && play_ + 1 >= plays_) return ReadStatus::kEnd;
    ++play_;
    index_ = begin_;
  }
  PictureFormat format;
  format.color = info_.color;
  out = Frame(picture(index_), format, time_ns(index_ + play_ * (end_ - begin_)), counters_.frames);
  ++index_;
  ++counters_.frames;
  return ReadStatus::kOk;
}

}  // namespace

TestSpec parse_test_uri(const std::string& uri) {
  TestSpec spec;
  std::string_view rest = std::string_view(uri).substr(kTestScheme.size());
  const std::size_t question = rest.find('?');
  const std::string_view pattern = rest.substr(0, question);
  const auto found =
      std::find_if(kPatterns.begin(), kPatterns.end(), [&](const auto& p) { return p.first == pattern; });
  if (found == kPatterns.end()) refuse(uri, fmt::format("there is no test pattern '{}'", pattern));
  spec.pattern = found->second;
  rest = question == std::string_view::npos ? std::string_view() : rest.substr(question + 1);
  while (!rest.empty()) {
    const std::size_t ampersand = rest.find('&');
    const std::string_view item = rest.substr(0, ampersand);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || !apply_parameter(item.substr(0, equals), item.substr(equals + 1), spec)) {
      refuse(uri, fmt::format("can't read '{}'", item));
    }
    rest = ampersand == std::string_view::npos ? std::string_view() : rest.substr(ampersand + 1);
  }
  if (spec.width_px > kMaxExtentPx || spec.height_px > kMaxExtentPx) {
    refuse(uri, fmt::format("{}x{} is larger than {} pixels a side", spec.width_px, spec.height_px, kMaxExtentPx));
  }
  return spec;
}

Damage expected_damage(const TestSpec& spec, std::int64_t index) {
  const int cols = (spec.width_px + kTilePx - 1) / kTilePx;
  const int rows = (spec.height_px + kTilePx - 1) / kTilePx;
  Damage damage({cols, rows});
  if (repeats_previous(spec, index)) return damage;
  if (index == 0 || spec.pattern != TestPattern::kBox) {
    damage.set_all();
    return damage;
  }
  const BoxRect now = box_at(spec, index), before = box_at(spec, index - 1);
  for (const BoxRect& box : {now, before}) {
    for (int y = box.y; y < box.y + box.size; ++y) {
      for (int x = box.x; x < box.x + box.size; ++x) {
        if (now.contains(x, y) != before.contains(x, y)) damage.set(y / kTilePx * cols + x / kTilePx);
      }
    }
  }
  return damage;
}

std::unique_ptr<FrameSource> open_test_source(const SourceConfig& config) {
  const TestSpec spec = parse_test_uri(config.uri);
  refuse_decoding(config, "a test source", "painted");
  check_pixels(config, spec.width_px, spec.height_px);
  return std::make_unique<TestSource>(config, spec);
}

}  // namespace saccade
