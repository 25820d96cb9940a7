// What plan.json says of the manifest and the options that were planned.
#pragma once

#include <string>

#include "app/json/json_file.h"
#include "app/options/options.h"
#include "app/work/plan/manifest.h"

namespace saccade {

// plan.json without hash and counts. Resolves a backend that is left to the machine.
Json plan_facts(const Options& options, const Manifest& manifest);

// What differs between two plans of manifests and options, in words; empty: nothing.
std::string plan_difference(const Json& there, const Json& here);

}  // namespace saccade
