// meta.json and manifest.json: what a dump is made of, and that it is complete.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/input_identity.h"
#include "app/options/options.h"
#include "pipeline/run/session.h"

namespace saccade {

using Json = nlohmann::ordered_json;

inline constexpr int kSchemaVersion = 1;
inline constexpr const char* kDumpFormat = "saccade-dump";

// {format, schema, saccade, input{name, uri, size, sha256}, options{name: text}}: what --resume compares.
Json meta_identity(const Options& options, const InputIdentity& input);

// The whole of meta.json: the identity, and `stream`, `backend`, `decoder`, `patches`, `patch_size`, `dtype`, `mean`,
// `std`, `levels`, `lattice`, `fovea{unit, m0, e0, unit_per_px_x, unit_per_px_y, max_lod}`. After Pipeline::prepare().
Json make_meta(const Options& options, const InputIdentity& input, const StreamInfo& info, const Pipeline& pipeline);

// What a dump came to, for manifest.json.
struct DumpFacts {
  SessionFacts session;
  DurationHistogram write_times;
  std::int64_t bytes_written = 0;
  double wall_s = 0;
};
Json times_json(const DurationHistogram& times);  // count, mean, percentiles, maximum

Json live_json(const LiveMeter& live, const SourceCounters& counters, const StreamEnd& end);
bool input_damaged(const SessionFacts& facts);
std::string damage_summary(const SessionFacts& facts);  // "3 corrupt packets, 1 corrupt frame, cut short"
Json make_manifest(const DumpFacts& facts);

// Read and write a whole file; writing goes through a temporary name and a rename. Throws Error.
Json read_json(const std::string& path);  // null when there is no such file or it is no JSON
void write_json(const std::string& path, const Json& json);
std::string json_text(const Json& json, int indent);  // never throws on text that is no UTF-8

}  // namespace saccade
