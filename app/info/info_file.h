// What a file is, and what would be done to it: the answer of `info INPUT`, opened but not run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/pyramid_layout.h"
#include "pipeline/run/pipeline.h"
#include "pipeline/source/frame/frame_source.h"
#include "pipeline/source/frame/stream_info.h"

namespace saccade {

struct FileReport {
  StreamInfo stream;
  std::int64_t start_pts_ns = 0;  // of the first frame
  double sar = 1.0;
  PyramidLayout layout;
  std::int64_t pyramid_bytes = 0;  // every level of every plane
  PipelineConfig pipeline;         // as asked
  std::unique_ptr<Lattice> lattice;
};

// Opens the source and reads its first frame. Throws what opening and preparing throw: InputError, UsageError.
FileReport inspect(const SourceConfig& source, const PipelineConfig& pipeline);

std::string to_text(const FileReport& report);
std::string to_json(const FileReport& report);  // one object

}  // namespace saccade
