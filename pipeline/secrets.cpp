#include "pipeline/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "pipeline/lower_case.h"

namespace saccade {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kSlashes = "://";
constexpr auto kNowhere = std::string_view::npos;

// Schemes that FFmpeg also takes without slashes.
constexpr std::array<std::string_view, 16> kNetwork = {"rtsp",  "rtsps", "rtmp", "rtmps", "rtmpt", "http",
                                                       "https", "ftp",   "sftp", "srt",   "tcp",   "tls",
                                                       "udp",   "rtp",   "mmsh", "mmst"};
constexpr std::array<std::string_view, 12> kSecretWords = {"passw",  "passphrase", "passwd",    "pwd",
                                                           "psw",    "token",      "signature", "credential",
                                                           "secret", "jwt",        "session",   "apikey"};
constexpr std::array<std::string_view, 12> kSecretNames = {"key", "auth",  "authorization", "sig", "user", "username",
                                                           "usr", "login", "pass",          "pw",  "sid",  "code"};

bool is_key_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// By a word anywhere in it, or by its last part: "access_key", "X-Amz-Signature", "user".
bool is_secret_name(std::string_view name) {
  const std::string lower = lower_case(name);
  const auto holds = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
  if (std::any_of(kSecretWords.begin(), kSecretWords.end(), holds)) return true;
  const std::string last = lower.substr(lower.find_last_of("_-.") + 1);
  return std::find(kSecretNames.begin(), kSecretNames.end(), last) != kSecretNames.end();
}

// "10.0.0.1", "cam.local/live", "host:554/x": what stands before the first '/' has a dot and is no file, or a port.
bool is_full_host(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  const std::string_view host = text.substr(0, end);
  const std::size_t colon = host.find(':');
  if (colon != kNowhere) return colon > 0 && colon + 1 < host.size() && is_digit(host[colon + 1]);
  const bool is_address = std::all_of(host.begin(), host.end(), [](char c) { return is_digit(c) || c == '.'; });
  return host.find('.') != kNowhere && (is_address || end < text.size());
}

// Where the user's name and password end, at their '@'; kNowhere: there are none. A password with an unescaped '/' or
// '?' is no valid URL, yet people write it: then what should be the port is no number, or the host stands further on.
std::size_t end_of_user(std::string_view url, std::size_t begin) {
  const std::size_t host_end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t at = url.substr(0, host_end).rfind('@');
  if (at != kNowhere && at >= begin) return at;
  const std::size_t colon = url.find(':', begin);
  const bool has_port = colon == kNowhere || colon >= host_end || url[begin] == '[' ||
                        std::all_of(url.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                                    url.begin() + static_cast<std::ptrdiff_t>(host_end), is_digit);
  const std::size_t last = url.rfind('@');
  if (last == kNowhere || last < begin) return kNowhere;
  if (!has_port) return last;
  const bool has_user = colon != kNowhere && colon < host_end && url[begin] != '[';
  return has_user && !is_full_host(url.substr(begin, colon - begin)) && is_full_host(url.substr(last + 1)) ? last
                                                                                                           : kNowhere;
}

std::string mask_users(std::string_view url, std::size_t first_host) {
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t begin = first_host; begin != kNowhere && begin < url.size();) {
    if (const std::size_t at = end_of_user(url, begin); at != kNowhere) {
      masked += url.substr(copied, begin - copied);
      masked += kMask;
      copied = begin = at;
    }
    const std::size_t next = url.find(kSlashes, begin);
    begin = next == kNowhere ? kNowhere : next + kSlashes.size();
  }
  masked += url.substr(copied);
  return masked;
}

// A value ends at '&', '#' or a space; at ';' and ',' only where another parameter follows: else they are part of it.
std::size_t end_of_value(std::string_view url, std::size_t begin) {
  for (std::size_t end = begin; end < url.size(); ++end) {
    if (url[end] == '&' || url[end] == '#' || url[end] == ' ') return end;
    if (url[end] != ';' && url[end] != ',') continue;
    std::size_t name = end + 1;
    while (name < url.size() && is_key_character(url[name])) ++name;
    if (name > end + 1 && name < url.size() && url[name] == '=') return end;
  }
  return url.size();
}

std::string mask_parameters(std::string_view url) {
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t equals = url.find('='); equals != kNowhere; equals = url.find('=', equals + 1)) {
    std::size_t name = equals;
    while (name > copied && is_key_character(url[name - 1])) --name;
    if (!is_secret_name(url.substr(name, equals - name))) continue;
    masked += url.substr(copied, equals + 1 - copied);
    masked += kMask;
    copied = end_of_value(url, equals + 1);
    if (copied == url.size()) break;
    equals = copied;
  }
  masked += url.substr(std::min(copied, url.size()));
  return masked;
}

std::string mask_url(std::string_view url, std::size_t first_host) {
  return mask_parameters(mask_users(url, first_host));
}

}  // namespace

bool is_network_scheme(std::string_view scheme) {
  return std::find(kNetwork.begin(), kNetwork.end(), lower_case(scheme)) != kNetwork.end();
}

std::string masked_uri(std::string_view uri) {
  const std::size_t slashes = uri.find(kSlashes);
  if (slashes != kNowhere) return mask_url(uri, slashes + kSlashes.size());
  const std::size_t colon = uri.find(':');
  if (colon != kNowhere && is_network_scheme(uri.substr(0, colon))) return mask_url(uri, colon + 1);
  // "user:password@host", whose scheme was forgotten.
  const std::size_t at = uri.rfind('@');
  const bool is_user = colon != kNowhere && colon > 1 && at != kNowhere && at > colon + 1 &&
                       uri.find_first_of("/\\=") > at && uri.find(':', colon + 1) > at &&
                       is_full_host(uri.substr(at + 1));
  return is_user ? mask_url(uri, 0) : std::string(uri);
}

std::string without_secrets(std::string_view text) {
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t at = text.find(kSlashes); at != kNowhere; at = text.find(kSlashes, at)) {
    std::size_t end = std::min(text.find_first_of(" \t\r\n'\"<>`", at), text.size());
    if (text[end - 1] == ':') --end;  // "URL: what is wrong with it"
    masked += text.substr(copied, at - copied);
    masked += mask_url(text.substr(at, end - at), kSlashes.size());
    copied = at = end;
  }
  masked += text.substr(copied);
  return masked;
}

}  // namespace saccade
