// The same work as an OpenCV program would do it, for comparison: absdiff + threshold against the last frame, a 7-level
// INTER_AREA pyramid, 273 foveated 16 x 16 patches by remap, all on BGR frames as cv::VideoCapture gives them.
// Usage: opencv_baseline CLIP [FRAMES [THREADS]]. Prints the mean and median milliseconds a frame of each stage.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <string>
#include <vector>

namespace {

constexpr int kLevels = 7;
constexpr int kRows = 13;  // 13 x 21 = 273 patches
constexpr int kCols = 21;
constexpr int kPatchSize = 16;
constexpr double kFovDeg = 40.0;
constexpr double kE0Deg = 2.3;

// Durations of one stage, in ms.
struct Times {
  const char* name;
  std::vector<double> ms;
  void print() {
    std::sort(ms.begin(), ms.end());
    const double mean = std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size());
    std::printf("%-8s  mean %7.3f ms  median %7.3f ms\n", name, mean, ms[ms.size() / 2]);
  }
};

template <typename F>
void timed(Times& times, F&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  times.ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
}

// Sample positions of the patches that one pyramid level serves: a column of 16 x 16 maps.
struct LevelMap {
  std::vector<cv::Point2f> positions;
  cv::Mat samples;
};

// Reused buffers, so that the measured loop allocates as little as OpenCV lets it.
class Baseline {
 public:
  // Share of pixels above the threshold, in any channel.
  double diff(const cv::Mat& frame, int threshold) {
    if (previous_.empty()) previous_ = cv::Mat::zeros(frame.size(), frame.type());
    cv::absdiff(frame, previous_, difference_);
    cv::threshold(difference_, mask_, threshold, 255, cv::THRESH_BINARY);
    frame.copyTo(previous_);
    return static_cast<double>(cv::countNonZero(mask_.reshape(1))) / static_cast<double>(mask_.total() * 3);
  }

  void pyramid(const cv::Mat& frame) {
    levels_[0] = frame;
    for (std::size_t l = 1; l < kLevels; ++l) {
      const cv::Size half((levels_[l - 1].cols + 1) / 2, (levels_[l - 1].rows + 1) / 2);
      cv::resize(levels_[l - 1], levels_[l], half, 0, 0, cv::INTER_AREA);
    }
  }

  void patches(double fix_x_px, double fix_y_px) {
    for (LevelMap& map : maps_) map.positions.clear();
    const double width = levels_[0].cols;
    const double height = levels_[0].rows;
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < kCols; ++col) {
        const double x = (col + 0.5) / kCols * width;
        const double y = (row + 0.5) / kRows * height;
        const double e_deg = std::hypot(x - fix_x_px, y - fix_y_px) * kFovDeg / width;
        append_patch(x, y, std::clamp(std::log2((e_deg + kE0Deg) / kE0Deg), 0.0, kLevels - 1.0));
      }
    }
    for (std::size_t l = 0; l < kLevels; ++l) {
      LevelMap& map = maps_[l];
      if (map.positions.empty()) continue;
      const cv::Mat positions(static_cast<int>(map.positions.size()) / kPatchSize, kPatchSize, CV_32FC2,
                              map.positions.data());
      cv::remap(levels_[l], map.samples, positions, cv::noArray(), cv::INTER_LINEAR, cv::BORDER_REPLICATE);
    }
  }

 private:
  void append_patch(double x_px, double y_px, double lod) {
    const int level = static_cast<int>(std::lround(lod));
    const double pitch_px = std::exp2(lod);
    const double scale = std::exp2(-level);
    std::vector<cv::Point2f>& positions = maps_[static_cast<std::size_t>(level)].positions;
    for (int j = 0; j < kPatchSize; ++j) {
      const double y = (y_px + (j - 0.5 * (kPatchSize - 1)) * pitch_px) * scale - 0.5;
      for (int i = 0; i < kPatchSize; ++i) {
        const double x = (x_px + (i - 0.5 * (kPatchSize - 1)) * pitch_px) * scale - 0.5;
        positions.emplace_back(static_cast<float>(x), static_cast<float>(y));
      }
    }
  }

  cv::Mat previous_, difference_, mask_;
  std::array<cv::Mat, kLevels> levels_;
  std::array<LevelMap, kLevels> maps_;
};

int run(const std::string& clip, int max_frames) {
  cv::VideoCapture capture(clip);
  if (!capture.isOpened()) {
    std::fprintf(stderr, "opencv_baseline: %s can't be opened as a video\n", clip.c_str());
    return 65;
  }
  Baseline baseline;
  Times decode{"decode", {}}, diff{"diff", {}}, pyramid{"pyramid", {}}, patches{"patches", {}};
  cv::Mat frame;
  double changed = 0;
  int frames = 0;
  for (; frames < max_frames; ++frames) {
    bool more = false;
    timed(decode, [&] { more = capture.read(frame); });
    if (!more) break;
    timed(diff, [&] { changed += baseline.diff(frame, 8); });
    timed(pyramid, [&] { baseline.pyramid(frame); });
    const double angle = 0.05 * frames;
    timed(patches, [&] {
      baseline.patches((0.5 + 0.3 * std::cos(angle)) * frame.cols, (0.5 + 0.3 * std::sin(angle)) * frame.rows);
    });
  }
  if (frames == 0) {
    std::fprintf(stderr, "opencv_baseline: %s has no frame\n", clip.c_str());
    return 65;
  }
  std::printf("%s: %d frames of %dx%d, %d thread(s), %.1f %% of samples change by more than 8\n", clip.c_str(), frames,
              frame.cols, frame.rows, cv::getNumThreads(), 100 * changed / frames);
  for (Times* times : {&decode, &diff, &pyramid, &patches}) times->print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: opencv_baseline CLIP [FRAMES [THREADS]]\n");
    return 2;
  }
  cv::setNumThreads(argc > 3 ? std::atoi(argv[3]) : 1);
  return run(argv[1], argc > 2 ? std::atoi(argv[2]) : 100000);
}
