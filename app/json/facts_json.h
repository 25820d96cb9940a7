// The JSON of each struct, once: meta.json, manifest.json, `info` and `profile` name the same fact alike.
#pragma once

#include "app/json/json_file.h"
#include "pipeline/run/session.h"

namespace saccade {

// `stream` of meta.json, `info` and `profile`: sizes in pixels, colour, rotation, rate, length. Null: not known, and
// matrix and range of what is R'G'B' already.
Json stream_json(const StreamInfo& info);

// Adds `decoder`, `hwdec`, `hwdec_reason`.
void add_decoder(Json& json, const StreamInfo& info);

// Adds `patches`, `patch_size`, `levels`, `lattice` (in words) and
// `fovea{unit, m0, e0, unit_per_px_x, unit_per_px_y, max_lod}`.
void add_lattice(Json& json, const Lattice& lattice, const LatticeConfig& config, int levels);

Json times_json(const DurationHistogram& times);  // count, mean, percentiles, maximum
Json drops_json(const QueueCounters& queue);
Json live_json(const LiveMeter& live, const SourceCounters& counters, const StreamEnd& end);

// {packets_corrupt, frames_corrupt, truncated, pts_made_up, pts_not_rising, stream_error}
Json decode_errors_json(const SourceCounters& counters, const Fault& fault);

// The double nearest to the float's shortest decimal: 0.485f is written as 0.485.
double decimal(float value);

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace saccade
