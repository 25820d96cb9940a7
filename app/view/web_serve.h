// saccade view for a browser.
#pragma once

#include "app/options/options.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Prints where to look (with the token), and serves until it is stopped. Throws Error.
int run_served(const Options& options, const SourceConfig& source);

}  // namespace saccade
