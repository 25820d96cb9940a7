#include "ui/web/server/connection.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <variant>

#include "pipeline/clock.h"
#include "ui/web/server/hub.h"
#include "ui/web/server/page_files.h"

namespace saccade::ui {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

void Connection::start() {
  close_after(kHello);
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](error_code error) {
    if (error || self->closed_) return self->close();
    self->spoke_ = true;
    self->hub_->thin_out();
    if (!self->closed_) self->read_request();
  });
}

void Connection::close_after(std::chrono::milliseconds patience) {
  deadline_.expires_after(patience);
  deadline_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->close();
  });
}

void Connection::close() {
  if (std::exchange(closed_, true)) return;
  deadline_.cancel();
  error_code ignored;
  Socket& socket = ws_ ? ws_->next_layer() : socket_;
  socket.shutdown(Socket::shutdown_both, ignored);
  socket.close(ignored);
  hub_->gone(shared_from_this());
}

void Connection::leave(std::uint16_t code, const char* why, std::chrono::milliseconds patience) {
  if (closed_) return;
  if (!open_) return close();
  close_after(patience);
  if (std::exchange(leaving_, true)) return;
  ws_->async_close(websocket::close_reason(static_cast<websocket::close_code>(code), why),
                   [self = shared_from_this()](error_code) { self->close(); });
}

void Connection::read_request() {
  parser_.emplace();
  parser_->header_limit(kMostHead_bytes);
  parser_->body_limit(std::uint64_t{0});
  http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
    if (!error) return self->answer();
    if (error.category() == http::make_error_code(http::error::end_of_stream).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      return self->respond(error == http::error::header_limit ? http::status::request_header_fields_too_large
                                                              : http::status::bad_request,
                           "The request is not understood.\n", "text/plain");
    }
    self->close();
  });
}

void Connection::answer() {
  const auto& request = parser_->get();
  const std::string_view target(request.target().data(), request.target().size());
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/socket") {
    if (buffer_.size() > 0) {  // a client must wait for the answer (RFC 6455, 4.1)
      return respond(http::status::bad_request, "The request is not understood.\n", "text/plain");
    }
    if (websocket::is_upgrade(request)) return upgrade();
    return respond(http::status::upgrade_required, "This is a WebSocket.\n", "text/plain");
  }
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    return respond(http::status::method_not_allowed, "Only GET and HEAD.\n", "text/plain");
  }
  const Page page = find_page(path);
  if (page.body.empty()) return respond(http::status::not_found, "There is no such page.\n", "text/plain");
  respond(http::status::ok, page.body, page.type);
}

void Connection::respond(http::status status, std::string_view body, std::string_view type) {
  const bool head = parser_->is_header_done() && parser_->get().method() == http::verb::head;
  answering_ = true;
  close_after(kAnswer);
  response_ = {};
  response_.version(11);
  response_.result(status);
  response_.set(http::field::content_type, beast::string_view(type.data(), type.size()));
  response_.set("Content-Security-Policy", hub_->policy());
  response_.set("X-Content-Type-Options", "nosniff");
  response_.set("Referrer-Policy", "no-referrer");
  response_.set(http::field::cache_control, "no-store");
  response_.set("Cross-Origin-Resource-Policy", "cross-origin");  // a notebook asks whether it is there
  response_.keep_alive(false);
  response_.content_length(body.size());
  if (!head) response_.body() = std::string(body);
  auto serializer = std::make_shared<http::response_serializer<http::string_body>>(response_);
  serializer->split(head);
  const auto done = [self = shared_from_this(), serializer](error_code, std::size_t) {
    error_code ignored;
    self->socket_.shutdown(Socket::shutdown_send, ignored);
    self->close_after(kLastFarewell);  // what comes yet is not read
  };
  if (head) {
    http::async_write_header(socket_, *serializer, done);
  } else {
    http::async_write(socket_, *serializer, done);
  }
}

namespace {

// Of what a stranger sent, for the log.
std::string shown(std::string_view text) {
  std::string made(text.substr(0, 200));
  for (char& c : made) c = c > ' ' && c < 0x7f ? c : '?';
  return made;
}

}  // namespace

void Connection::upgrade() {
  const auto& request = parser_->get();
  const auto text = [](beast::string_view view) { return std::string_view(view.data(), view.size()); };
  std::optional<std::string_view> origin;
  if (request.count(http::field::origin) > 0) origin = text(request[http::field::origin]);
  const bool twice = request.count(http::field::origin) > 1 || request.count(http::field::host) != 1;
  if (twice || !hub_->config().access.allows(origin, text(request[http::field::host]))) {
    hub_->refused_origin(origin ? shown(*origin) : "an unknown origin");
    return respond(http::status::forbidden, "Pages of this origin may not connect.\n", "text/plain");
  }
  ws_.emplace(std::move(socket_));
  ws_->read_message_max(kMostMessage_bytes);
  ws_->set_option(websocket::stream_base::timeout{kHello, kIdle, true});
  ws_->auto_fragment(false);
  ws_->write_buffer_bytes(64 * 1024);
  ws_->control_callback([weak = weak_from_this()](websocket::frame_type type, beast::string_view) {
    const auto self = weak.lock();
    if (!self || type != websocket::frame_type::pong || self->pinged_ns_ == 0) return;
    const double ms = static_cast<double>(steady_now_ns() - std::exchange(self->pinged_ns_, 0)) * 1e-6;
    self->hub_->locked([&] {
      const double before = self->round_trip_ms;
      self->round_trip_ms = before == 0 || ms < before ? ms : before + 0.1 * (ms - before);
    });
  });
  ws_->async_accept(request, [self = shared_from_this()](error_code error) {
    if (error) return self->close();
    self->open_ = true;
    self->parser_.reset();
    self->buffer_.clear();
    self->read_message();
  });
}

void Connection::read_message() {
  ws_->async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->close();
    self->take_message();
  });
}

bool Connection::too_many() {
  const std::int64_t second = steady_now_ns() / 1'000'000'000;
  if (second != second_) messages_ = 0;
  second_ = second;
  return ++messages_ > kMostMessages;
}

void Connection::take_message() {
  const auto data = buffer_.data();
  auto message =
      ws_->got_text() ? parse_client_message({static_cast<const char*>(data.data()), data.size()}) : std::nullopt;
  buffer_.consume(buffer_.size());
  if (leaving_ || closed_) return read_message();  // until the other side has closed as well
  if (!message) {
    leave(kCloseMessage, "a message is not understood");
  } else if (too_many()) {
    leave(kCloseRate, "too many messages");
  } else if (role == Role::kNone || std::holds_alternative<HelloMessage>(*message)) {
    take_hello(*message);
  } else if (const auto* ack = std::get_if<AckMessage>(&*message)) {
    hub_->acknowledged(*this, ack->seq);
    pump();
  } else if (const auto* hide = std::get_if<HiddenMessage>(&*message)) {
    hub_->hidden(*this, hide->hidden);
    pump();
  } else if (std::holds_alternative<TakeMessage>(*message)) {
    hub_->take_control(shared_from_this());
  } else if (const auto* ping = std::get_if<PingMessage>(&*message)) {
    send(outgoing(fmt::format(R"({{"type":"pong","t":{}}})", ping->t)), false);
  } else {
    hub_->add_input(*this, std::move(std::get<InputMessage>(*message)));
  }
  if (!closed_) read_message();
}

void Connection::take_hello(const ClientMessage& message) {
  const auto* hello = std::get_if<HelloMessage>(&message);
  if (hello == nullptr || role != Role::kNone) return leave(kCloseMessage, "hello comes first, and once");
  hub_->said_hello(shared_from_this(), *hello);
}

void Connection::send(Outgoing message, bool may_wait) {
  if (!open_ || leaving_ || closed_) return;
  if (!may_wait && waiting_.size() >= kMostTexts / 2) return;
  if (waiting_.size() >= kMostTexts) return leave(kCloseRate, "too slow for its answers");
  waiting_.push_back(std::move(message));
  pump();
}

// One message at a time: answers first, then what is true now, then the newest picture.
void Connection::pump() {
  if (!open_ || writing_ || leaving_ || closed_ || role == Role::kNone) return;
  if (!waiting_.empty()) {
    written_ = std::move(waiting_.front());
    waiting_.pop_front();
  } else if (std::exchange(role_due_, false)) {
    written_ = outgoing(hub_->role_of(*this));
  } else if (std::string state; std::exchange(state_due_, false) && !(state = hub_->state()).empty()) {
    written_ = outgoing(std::move(state));
  } else if (const auto picture = hub_->locked([this] { return flow.take(steady_now_ns()); })) {
    written_ = outgoing(picture);
  } else {
    return;
  }
  writing_ = true;
  ws_->text(written_.text);
  ws_->async_write(written_.bytes, [self = shared_from_this()](error_code error, std::size_t) {
    self->writing_ = false;
    self->written_ = {};
    // Aborted: the other side is being told why this ends, and the reading closes when it has heard.
    if (error == asio::error::operation_aborted) return;
    if (error) return self->close();
    self->pump();
  });
}

void Connection::measure() {
  if (!open_ || leaving_ || closed_ || writing_ || pinged_ns_ != 0) return;
  pinged_ns_ = steady_now_ns();
  ws_->async_ping({}, [self = shared_from_this()](error_code error) {
    if (error) self->pinged_ns_ = 0;
  });
}

}  // namespace saccade::ui
