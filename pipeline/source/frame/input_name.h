// What an input's name says by itself, before anybody looks whether a file is called that.
#pragma once

#include <string_view>

namespace saccade {

inline constexpr std::string_view kTestScheme = "test://";
inline constexpr std::string_view kGraphScheme = "lavfi:";
inline constexpr std::string_view kScreenScheme = "screen:";

// A pattern that is painted here; nothing is read or decoded.
constexpr bool names_test(std::string_view uri) { return uri.starts_with(kTestScheme); }
// A graph of FFmpeg's filters that makes its own frames.
constexpr bool names_graph(std::string_view uri) { return uri.starts_with(kGraphScheme); }
// What a display shows: pipeline/source/screen.
constexpr bool names_screen(std::string_view uri) { return uri.starts_with(kScreenScheme); }
constexpr bool names_rtsp(std::string_view uri) { return uri.starts_with("rtsp:") || uri.starts_with("rtsps:"); }

}  // namespace saccade
