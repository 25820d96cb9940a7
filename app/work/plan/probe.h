// How long videos are, learned by opening them in processes of their own: one that kills or hangs a demuxer must not
// end the plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/json/json_file.h"
#include "app/options/options.h"

namespace saccade {

// Lengths in seconds; none: it can't be opened, says no length, or its process died or took too long, which is reported
// on stderr. Throws Error of kOutput where no process can be started.
std::vector<std::optional<double>> probe_lengths(const Options& options, const std::vector<std::string>& uris);

// The other end, in `saccade worker`: reads the videos' names from stdin until that ends. Throws Json::exception.
void serve_probe(const Json& source);

}  // namespace saccade
