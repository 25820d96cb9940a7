// What the server has of Boost, its limits, and its own codes of closing.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ui/web/wire/client_flow.h"

namespace saccade::ui {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;  // TCP's or the file system's

inline constexpr std::size_t kMostHead_bytes = 8192;
inline constexpr std::size_t kMostClients = 8, kMostStrangers = 64;
inline constexpr std::size_t kMostTexts = 32, kMostInputs = 1000;
inline constexpr int kMostMessages = 1000;  // a second
inline constexpr std::chrono::seconds kHello{10}, kAnswer{30}, kIdle{40}, kBeat{10};
inline constexpr std::chrono::milliseconds kFarewell{3000}, kLastFarewell{300}, kAcceptAgain{100};

// Codes of our own, which the page knows: see viewer.js.
inline constexpr std::uint16_t kCloseMessage = 4400, kCloseToken = 4401, kCloseFull = 4403, kCloseVersion = 4426,
                               kCloseRate = 4429;

// A message and what keeps its bytes alive; copies share them.
struct Outgoing {
  bool text = true;
  std::shared_ptr<const void> owner;
  asio::const_buffer bytes;
};

inline Outgoing outgoing(std::string text, bool is_text = true) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {is_text, owner, asio::buffer(*owner)};
}

inline Outgoing outgoing(const ServedPicturePtr& picture) { return {false, picture, asio::buffer(picture->bytes)}; }

}  // namespace saccade::ui
