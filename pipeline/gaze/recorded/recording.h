// Where somebody looked, as an eye tracker or a program recorded it, ready to be followed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/gaze/recorded/units.h"

namespace saccade {

struct GazePoint {
  float u = 0.5f;  // 0..1 of the displayed frame, origin top-left
  float v = 0.5f;
};

// What was made of a file. rows = used + missing + off_screen + unsure + others + repeated.
struct RecordingFacts {
  std::string path;      // empty: it was given in memory
  std::string format;    // "Pupil", "EyeLink", "columns time, x, y"
  std::string units;     // "norm", "norm-up", "px of 1920x1080"
  bool samples = false;  // raw gaze, rather than fixations
  std::int64_t rows = 0;
  std::int64_t used = 0;
  std::int64_t missing = 0;           // nothing was seen: blinks
  std::int64_t off_screen = 0;        // a look beside the frame
  std::int64_t unsure = 0;            // the tracker's confidence is below 0.6
  std::int64_t others = 0;            // within no fixation, where the file tells and fixations are followed
  std::int64_t repeated = 0;          // one of several rows at one time; samples that became one fixation
  double clock_begins_s = 0;          // of the first row, by the file's own clock
  bool counted_from_first = false;    // times count from that row; else they are the video's
  double begins_s = 0, ends_s = 0;    // of the first and of the last row that is used, since the first frame
  std::vector<std::string> warnings;  // a line each
};

// begins_ns rises and counts from the first frame.
struct RecordedScanpath {
  std::vector<std::int64_t> begins_ns;
  std::vector<GazePoint> points;
  std::vector<std::uint8_t> gap_after;  // 1: nothing usable was seen between this row and the next. Empty: no gap
  RecordingFacts facts;
};

// From rows of t_s, u, v. Throws UsageError naming the row: times that don't rise, places outside 0..1, no row.
RecordedScanpath recorded_scanpath(std::span<const double> t_u_v);

struct RecordingConfig {
  GazeUnits units;
  bool raw = false;  // samples are to be followed as they are: none is made into a fixation
  int frame_width_px = 0, frame_height_px = 0;
};

// A file of gaze or fixations: `t_s,u,v` lines, a table with columns by name (CSV, TSV), EyeLink's ASC; docs/GAZE.md.
// Throws InputError naming file, line, column and what to try.
RecordedScanpath read_recording(const std::string& path, const RecordingConfig& config);

// "312 rows of Pupil (norm-up): 300 used; 8 blinks, 4 looks off the screen skipped".
std::string summary(const RecordingFacts& facts);

}  // namespace saccade
