#include "ui/web/wire/listen_address.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "pipeline/error.h"

namespace saccade::ui {
namespace {

constexpr std::size_t kMostPath_bytes = 100;  // of sockaddr_un's 108

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(port) : std::nullopt;
}

// A file's name is the likely mistake: names of hosts have no slash, and no suffix of a video.
bool is_host(std::string_view text, bool brackets) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
  const std::string_view allowed = brackets ? "0123456789abcdefABCDEF:." : kName;
  return !text.empty() && text.size() <= 253 && text.find_first_not_of(allowed) == std::string_view::npos;
}

[[noreturn]] void refuse(std::string_view text) {
  throw UsageError(fmt::format("'{}' is not ADDR:PORT, as 127.0.0.1:8080, nor unix:PATH", text));
}

}  // namespace

ListenAddress parse_listen_address(std::string_view text) {
  ListenAddress address;
  if (text.empty()) {
    address.port = kDefaultPort;
    address.or_any_port = true;
    return address;
  }
  if (text.starts_with("unix:")) {
    address.path = text.substr(5);
    if (address.path.empty() || address.path.find('\0') != std::string::npos) refuse(text);
    if (address.path.size() > kMostPath_bytes) {
      throw UsageError(fmt::format("'{}': a socket's path has at most {} bytes", text, kMostPath_bytes));
    }
    return address;
  }
  if (const auto port = port_of(text)) {
    address.port = *port;
    return address;
  }
  const bool brackets = text.starts_with('[');
  const std::size_t colon = brackets ? text.find("]:") : text.rfind(':');
  if (colon == std::string_view::npos) refuse(text);
  const std::string_view host = brackets ? text.substr(1, colon - 1) : text.substr(0, colon);
  const auto port = port_of(text.substr(colon + (brackets ? 2 : 1)));
  if (!port || !is_host(host, brackets)) refuse(text);
  address.host = host;
  address.port = *port;
  return address;
}

}  // namespace saccade::ui
