// Where a served viewer listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace saccade::ui {

struct ListenAddress {
  std::string host = "127.0.0.1";  // a name or an address, IPv6 without brackets
  std::uint16_t port = 0;          // 0: any free one
  std::string path;                // not empty: a socket of this name in the file system, in place of host and port
  bool or_any_port = false;        // when `port` is taken
};

inline constexpr std::uint16_t kDefaultPort = 7373;

// "ADDR:PORT", "PORT", "[::1]:PORT" or "unix:PATH"; empty: 127.0.0.1 and kDefaultPort, or any port where that
// is taken. Throws UsageError without the option's name.
ListenAddress parse_listen_address(std::string_view text);

}  // namespace saccade::ui
