// A dump as one HTML file: its film, where the eye looked, the patches' outlines, and the damage over time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "app/reconstruct/dump.h"

namespace saccade {

inline constexpr std::int64_t kMostPageBytes = 20'000'000;

struct PageFacts {
  std::int64_t emissions = 0;  // shown: of a long dump evenly chosen ones
  int width = 0, height = 0;   // of the film
  std::string encoder;
};

// Self-contained, at most kMostPageBytes: of what would be larger the film shrinks, then fewer emissions are shown.
// Written under a temporary name and renamed. memory: as EmissionPainter's.
// Throws Error; kInterrupted once `stopped` says so.
PageFacts write_html_page(const DumpReader& dump, const std::string& output, bool memory,
                          const std::function<bool()>& stopped);

}  // namespace saccade
