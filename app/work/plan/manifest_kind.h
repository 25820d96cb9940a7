// What a manifest is, by its name and its first bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace saccade {

enum class ManifestKind : std::uint8_t { kCsv, kJsonLines, kList };

inline constexpr const char* kListAdvice = "make one, for example with: ls FOLDER/*.mp4 > list.txt";

// text: without a byte order mark. Throws InputError that says what to do with a file that is none of these, so that no
// header or bracket is taken for a video.
ManifestKind manifest_kind(const std::string& path, std::string_view text);

}  // namespace saccade
