// What options can't go together, and what this build can't do.
#pragma once

#include "app/options/table.h"
#include "pipeline/run/session.h"

namespace saccade {

// Throws UsageError that names the options and what to leave out.
void check_contradictions(const Options& options, const GivenValues& given);

// The inputs and the output a command needs. Fills what is derived from them.
void check_inputs(Options& options);

// Settles which backend runs, and why. Throws UnavailableError for a backend or a decoder that was asked for and can't
// be used here.
void choose_devices(Options& options);

// What one input is run with.
SessionConfig session_config(const Options& options, const std::string& uri);

}  // namespace saccade
