// Users, passwords and tokens in URLs, which no file, log or title may show.
#pragma once

#include <string>
#include <string_view>

namespace saccade {

// Note [Secrets]
// A URL is opened as the user wrote it, and shown masked: what stands before the '@' of its host, and the values of
// parameters whose names say that they are secret (token, password, key, sig, user ...), become "***". The name of an
// input is masked once, where it is opened; FFmpeg's messages, which repeat URLs, are masked as texts.

// An input's name, as it may be shown. What is no URL stays as it is.
std::string masked_uri(std::string_view uri);

// Whether FFmpeg opens it over a network: "rtsp", in any case of letters.
bool is_network_scheme(std::string_view scheme);

// The same for every URL in a text. A URL ends at white space or a quotation mark.
std::string without_secrets(std::string_view text);

}  // namespace saccade
