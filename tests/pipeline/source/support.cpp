#include "tests/pipeline/source/support.h"

#include "pipeline/source/open.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace saccade::test {
namespace {

std::vector<std::uint8_t> run_bytes(const std::string& command) {
  std::FILE* pipe = popen(("timeout 60 sh -c " + quoted(command)).c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen: " + command);
  std::vector<std::uint8_t> out;
  std::array<std::uint8_t, 65536> chunk;
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe))
    out.insert(out.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(n));
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("failed: " + command);
  return out;
}

bool is_deep(PixelLayout layout) { return layout == PixelLayout::kI420p16 || layout == PixelLayout::kP016; }
bool is_semi_planar(PixelLayout layout) { return layout == PixelLayout::kNv12 || layout == PixelLayout::kP016; }

struct PlaneSize {
  std::size_t row_bytes = 0;
  int rows = 0;
};

int plane_count(PixelLayout layout) { return layout == PixelLayout::kRgba8 ? 1 : is_semi_planar(layout) ? 2 : 3; }

PlaneSize plane_size(const FrameView& view, int plane) {
  if (view.layout == PixelLayout::kRgba8) return {static_cast<std::size_t>(view.width_px) * 4, view.height_px};
  const std::size_t sample = is_deep(view.layout) ? 2 : 1;
  if (plane == 0) return {static_cast<std::size_t>(view.width_px) * sample, view.height_px};
  const std::size_t columns = static_cast<std::size_t>((view.width_px + 1) / 2) * (is_semi_planar(view.layout) ? 2 : 1);
  return {columns * sample, (view.height_px + 1) / 2};
}

// A sample as stored, aligned to the top of its storage.
double sample_at(const FrameView& view, std::size_t plane, int index, int row) {
  const std::uint8_t* line = view.planes[plane].data + row * view.planes[plane].pitch_bytes;
  if (!is_deep(view.layout)) return line[index];
  std::uint16_t value = 0;
  std::memcpy(&value, line + 2 * index, 2);
  return static_cast<double>(value << view.shift);
}

double chroma_at(const FrameView& view, int channel, int x, int y) {
  const int width = (view.width_px + 1) / 2, height = (view.height_px + 1) / 2;
  const double cx = std::clamp((x + 0.5) / 2 + static_cast<double>(view.color.site_shift_x) - 0.5, 0.0, width - 1.0);
  const double cy = std::clamp((y + 0.5) / 2 + static_cast<double>(view.color.site_shift_y) - 0.5, 0.0, height - 1.0);
  const auto fetch = [&](int ix, int iy) {
    ix = std::min(ix, width - 1);
    iy = std::min(iy, height - 1);
    return is_semi_planar(view.layout) ? sample_at(view, 1, 2 * ix + channel, iy)
                                       : sample_at(view, static_cast<std::size_t>(1 + channel), ix, iy);
  };
  const int x0 = static_cast<int>(cx), y0 = static_cast<int>(cy);
  const double fx = cx - x0, fy = cy - y0;
  const double top = fetch(x0, y0) * (1 - fx) + fetch(x0 + 1, y0) * fx;
  const double bottom = fetch(x0, y0 + 1) * (1 - fx) + fetch(x0 + 1, y0 + 1) * fx;
  return top * (1 - fy) + bottom * fy;
}

}  // namespace

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string run(const std::string& command) {
  const std::vector<std::uint8_t> bytes = run_bytes(command);
  return {bytes.begin(), bytes.end()};
}

void ffmpeg(const std::string& arguments) { run("ffmpeg -nostdin -v error -y " + arguments); }

std::vector<double> ffprobe_times(const std::string& path) {
  std::istringstream lines(
      run("ffprobe -v error -select_streams v:0 -show_entries frame=best_effort_timestamp_time "
          "-of default=nw=1:nk=1 " +
          quoted(path)));
  std::vector<double> times;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) times.push_back(std::stod(line));
  }
  return times;
}

std::vector<std::uint8_t> ffmpeg_raw(const std::string& input_options, const std::string& path,
                                     const std::string& arguments) {
  return run_bytes("ffmpeg -nostdin -v error " + input_options + " -i " + quoted(path) + " -fps_mode passthrough " +
                   arguments + " -f rawvideo -");
}

std::vector<std::uint8_t> packed(const FrameView& view) {
  std::vector<std::uint8_t> out;
  for (int p = 0; p < plane_count(view.layout); ++p) {
    const PlaneSize size = plane_size(view, p);
    const PlaneView& plane = view.planes[static_cast<std::size_t>(p)];
    for (int y = 0; y < size.rows; ++y) {
      const std::uint8_t* row = plane.data + y * plane.pitch_bytes;
      out.insert(out.end(), row, row + size.row_bytes);
    }
  }
  return out;
}

std::array<double, 3> rgb_at(const FrameView& view, int x, int y) {
  if (view.layout == PixelLayout::kRgba8) {
    return {sample_at(view, 0, 4 * x, y), sample_at(view, 0, 4 * x + 1, y), sample_at(view, 0, 4 * x + 2, y)};
  }
  const float code_max = is_deep(view.layout) ? 65535.0f : 255.0f;
  const shared::ColorParams params = make_color_params(view.color, code_max);
  const shared::Rgb rgb =
      shared::ycbcr_to_rgb(static_cast<float>(sample_at(view, 0, x, y)), static_cast<float>(chroma_at(view, 0, x, y)),
                           static_cast<float>(chroma_at(view, 1, x, y)), params);
  return {255.0 * static_cast<double>(rgb.r), 255.0 * static_cast<double>(rgb.g), 255.0 * static_cast<double>(rgb.b)};
}

Shot::Shot(const FrameView& from) : view(from), bytes(packed(from)) {
  std::size_t offset = 0;
  for (int p = 0; p < plane_count(view.layout); ++p) {
    const PlaneSize size = plane_size(view, p);
    view.planes[static_cast<std::size_t>(p)] = {bytes.data() + offset, static_cast<std::ptrdiff_t>(size.row_bytes)};
    offset += size.row_bytes * static_cast<std::size_t>(size.rows);
  }
}

std::vector<std::int64_t> Recording::times_ns() const {
  std::vector<std::int64_t> times;
  for (const Shot& shot : shots) times.push_back(shot.view.pts_ns);
  return times;
}

std::vector<std::uint8_t> Recording::all_bytes() const {
  std::vector<std::uint8_t> all;
  for (const Shot& shot : shots) all.insert(all.end(), shot.bytes.begin(), shot.bytes.end());
  return all;
}

Recording record(const SourceConfig& config) {
  const std::unique_ptr<FrameSource> source = open_source(config);
  Recording recording;
  recording.info = source->info();
  Frame frame;
  while ((recording.status = source->next(frame)) == ReadStatus::kOk) {
    recording.shots.emplace_back(frame.view());
    source->recycle(std::move(frame));
  }
  recording.counters = source->counters();
  recording.fault = source->fault();
  return recording;
}

Recording record(const std::string& uri) {
  SourceConfig config;
  config.uri = uri;
  return record(config);
}

void expect_starts(SourceConfig config, const Recording& whole, std::initializer_list<std::size_t> firsts) {
  for (const std::size_t first : firsts) {
    config.start_s = static_cast<double>(whole.times_ns()[first] - whole.times_ns()[0]) * 1e-9;
    const Recording part = record(config);
    ASSERT_EQ(part.shots.size(), whole.shots.size() - first) << "from " << first;
    for (std::size_t i = 0; i < part.shots.size(); ++i) {
      ASSERT_EQ(part.shots[i].bytes, whole.shots[first + i].bytes) << "from " << first << ", frame " << i;
      ASSERT_EQ(part.shots[i].view.pts_ns, whole.shots[first + i].view.pts_ns) << "from " << first << ", frame " << i;
    }
    EXPECT_EQ(part.counters.packets_corrupt, whole.counters.packets_corrupt) << "from " << first;
    EXPECT_LE(part.counters.frames_corrupt, whole.counters.frames_corrupt) << "from " << first;
    EXPECT_FALSE(part.counters.truncated) << "from " << first;
  }
}

void expect_seeks(const SourceConfig& config, const Recording& whole, std::initializer_list<std::size_t> to) {
  const auto source = open_source(config);
  for (const std::size_t first : to) {
    ASSERT_TRUE(source->seek(whole.times_ns()[first]));
    Frame frame;
    for (std::size_t i = first; i < std::min(first + 5, whole.shots.size()); ++i) {
      ASSERT_EQ(source->next(frame), ReadStatus::kOk);
      ASSERT_EQ(packed(frame.view()), whole.shots[i].bytes) << "to " << first << ", frame " << i;
      ASSERT_EQ(frame.view().pts_ns, whole.times_ns()[i]) << "to " << first << ", frame " << i;
    }
  }
}

}  // namespace saccade::test
