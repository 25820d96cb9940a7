// One connection to the server: a request, and then perhaps a client.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "ui/web/server/sockets.h"
#include "ui/web/wire/access.h"
#include "ui/web/wire/client_flow.h"
#include "ui/web/wire/client_message.h"

namespace saccade::ui {

class ServerHub;

// The network thread's. It lives while something is pending on it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, std::shared_ptr<ServerHub> hub, asio::io_context& io)
      : hub_(std::move(hub)), socket_(std::move(socket)), deadline_(io) {}

  void start();
  void close();                                                                                     // at once
  void leave(std::uint16_t code, const char* why, std::chrono::milliseconds patience = kFarewell);  // with words
  void send(Outgoing message, bool may_wait = true);  // after what waits already
  void tell_role() { role_due_ = true, pump(); }
  void tell_state() { state_due_ = true, pump(); }
  void pump();
  void measure();  // how long a few bytes take to the page and back
  // True until its request is whole and is answered, or until it has said hello.
  bool is_stranger() const { return !answering_ && role == Role::kNone; }
  bool is_silent() const { return !spoke_; }  // it has sent nothing
  void greet(std::uint32_t number, Role given) {
    id = number;
    role = given;
    deadline_.cancel();
  }

  // Under the hub's mutex.
  std::uint32_t id = 0;
  Role role = Role::kNone;
  ClientFlow flow;
  double round_trip_ms = 0;

 private:
  void close_after(std::chrono::milliseconds patience);
  void read_request();
  void answer();
  void respond(boost::beast::http::status status, std::string_view body, std::string_view type);
  void upgrade();
  void read_message();
  void take_message();
  void take_hello(const ClientMessage& message);
  bool too_many();

  const std::shared_ptr<ServerHub> hub_;
  Socket socket_;  // until it is a WebSocket's
  std::optional<boost::beast::websocket::stream<Socket>> ws_;
  asio::steady_timer deadline_;
  boost::beast::flat_buffer buffer_{kMostHead_bytes + 512};
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  bool open_ = false;  // the WebSocket is
  bool spoke_ = false, answering_ = false;
  bool writing_ = false, leaving_ = false, closed_ = false;
  bool role_due_ = false, state_due_ = false;
  std::deque<Outgoing> waiting_;
  Outgoing written_;
  std::int64_t second_ = 0, pinged_ns_ = 0;
  int messages_ = 0;
};

}  // namespace saccade::ui
