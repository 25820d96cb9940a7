// The page that `reconstruct -o FILE.html` writes, but for its data and its video.
#pragma once

#include <string_view>

namespace saccade {

// One document: kPageHead, data as JSON, kPageMiddle, the video's data: URL, kPageEnd.
extern const std::string_view kPageHead, kPageMiddle, kPageEnd;

}  // namespace saccade
