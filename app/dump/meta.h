// meta.json and manifest.json: what a dump is made of, and that it is complete.
#pragma once

#include <string>
#include <vector>

#include "app/files/input_identity.h"
#include "app/json/json_file.h"
#include "app/options/options.h"
#include "pipeline/run/session.h"

namespace saccade {

inline constexpr int kSchemaVersion = 1;
inline constexpr const char* kDumpFormat = "saccade-dump";

// {format, schema, saccade, input{name, uri, size, sha256}, options{name: text}}: what --resume compares.
Json meta_identity(const Options& options, const InputIdentity& input);

// The whole of meta.json: the identity, and `stream`, `backend`, `dtype`, `mean`, `std`, what add_decoder() and
// add_lattice() add. After Pipeline::prepare().
Json make_meta(const Options& options, const InputIdentity& input, const StreamInfo& info, const Pipeline& pipeline);

// What a dump came to, for manifest.json.
struct DumpResult {
  SessionFacts session;
  DurationHistogram write_times;
  std::int64_t bytes_written = 0;
  double wall_s = 0;
};
std::string damage_summary(const SessionFacts& facts);  // "3 corrupt packets, 1 corrupt frame, cut short"
Json make_manifest(const DumpResult& facts);

}  // namespace saccade
