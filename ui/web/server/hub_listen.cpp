// The hub's sockets: where it listens, whom it lets in.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <type_traits>

#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "ui/web/server/hub.h"

namespace saccade::ui {

void ServerHub::listen() {
  if (config_.address.path.empty()) {
    listen_tcp();
  } else {
    listen_path();
  }
}

void ServerHub::listen_tcp() {
  using asio::ip::tcp;
  const ListenAddress& address = config_.address;
  const auto refuse = [&](const error_code& error) {
    const bool taken = error == asio::error::address_in_use;
    throw UnavailableError(OfOption("serve", fmt::format("{}:{}", address.host, address.port)),
                           taken ? "another program listens there; choose another port, or 0 for a free one"
                                 : "can't listen there: " + error.message());
  };
  error_code error;
  tcp::resolver resolver(io_);
  const auto found = resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive, error);
  if (error || found.empty()) refuse(error);
  tcp::endpoint endpoint = found.begin()->endpoint();
  tcp_.emplace(io_);
  tcp_->open(endpoint.protocol(), error);
  if (error) refuse(error);
  tcp_->set_option(tcp::acceptor::reuse_address(true), error);
  tcp_->bind(endpoint, error);
  if (error == asio::error::address_in_use && address.or_any_port) {
    endpoint.port(0);
    tcp_->bind(endpoint, error);
  }
  if (!error) tcp_->listen(asio::socket_base::max_listen_connections, error);
  if (error) refuse(error);
  port_ = tcp_->local_endpoint().port();
  const bool is_v6 = address.host.find(':') != std::string::npos;
  authority_ = fmt::format("{}{}{}:{}", is_v6 ? "[" : "", address.host, is_v6 ? "]" : "", port_);
}

// A socket that nobody listens on any more is left from a process that was killed.
void ServerHub::listen_path() {
  using asio::local::stream_protocol;
  const std::string& path = config_.address.path;
  const auto refuse = [&](const std::string& why) { throw UnavailableError(OfOption("serve", "unix:" + path), why); };
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) refuse("exists, and is no socket; choose another path");
    stream_protocol::socket probe(io_);
    error_code error;
    probe.connect(stream_protocol::endpoint(path), error);
    if (!error) refuse("another program listens there; choose another path");
    if (error != asio::error::connection_refused) refuse("can't be asked who listens there: " + error.message());
    unlink(path.c_str());
  }
  local_.emplace(io_);
  error_code error;
  local_->open(stream_protocol(), error);
  const mode_t before = umask(0177);  // for its owner alone, from the beginning
  if (!error) local_->bind(stream_protocol::endpoint(path), error);
  umask(before);
  if (!error) local_->listen(asio::socket_base::max_listen_connections, error);
  if (error) refuse("can't listen there: " + error.message());
  authority_ = path;
}

void ServerHub::accept() {
  if (tcp_) accept_from(*tcp_);
  if (local_) accept_from(*local_);
}

template <typename Acceptor>
void ServerHub::accept_from(Acceptor& acceptor) {
  acceptor.async_accept([this, &acceptor](error_code error, auto socket) {
    if (stopping_ || error == asio::error::operation_aborted) return;
    if (!error) {
      if constexpr (std::is_same_v<std::decay_t<decltype(socket)>, asio::ip::tcp::socket>) {
        error_code ignored;
        socket.set_option(asio::ip::tcp::no_delay(true), ignored);
      }
      add(Socket(std::move(socket)));
      return accept_from(acceptor);
    }
    again_.expires_after(kAcceptAgain);  // no file descriptor is free, say
    again_.async_wait([this, &acceptor](error_code stopped) {
      if (!stopped) accept_from(acceptor);
    });
  });
}

void ServerHub::add(Socket socket) {
  auto connection = std::make_shared<Connection>(std::move(socket), shared_from_this(), io_);
  guests_.push_back(connection);
  thin_out();
  connection->start();
}

// Those that sent nothing and those that sent too little are counted apart, so that neither keeps the other out.
void ServerHub::thin_out() {
  for (const bool silent : {true, false}) {
    std::size_t strangers = 0;
    ConnectionPtr oldest;
    for (const ConnectionPtr& guest : guests_) {
      if (!guest->is_stranger() || guest->is_silent() != silent) continue;
      ++strangers;
      if (!oldest) oldest = guest;
    }
    if (strangers > kMostStrangers) oldest->close();
  }
}

void ServerHub::beat() {
  beat_.expires_after(kBeat);
  beat_.async_wait([this](error_code error) {
    if (error || stopping_) return;
    for (const auto& [id, connection] : std::map(clients_)) connection->measure();
    warn(wrong_tokens_.due(steady_now_ns()));
    warn(refused_origins_.due(steady_now_ns()));
    beat();
  });
}

namespace {

// A reason of closing has room for 123 bytes.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost_bytes = 120;
  if (text.size() <= kMost_bytes) return text;
  std::size_t end = kMost_bytes - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no character is cut
  return text.substr(0, end) + "...";
}

}  // namespace

void ServerHub::stop(const std::string& why) {
  asio::post(io_, [this, words = shortened(why)] {
    stopping_ = true;
    error_code ignored;
    if (tcp_) tcp_->close(ignored);
    if (local_) local_->close(ignored);
    warn(wrong_tokens_.due(steady_now_ns(), true));
    warn(refused_origins_.due(steady_now_ns(), true));
    beat_.cancel();
    again_.cancel();
    for (const auto& connection : std::list(guests_)) connection->close();
    for (const auto& [id, connection] : std::map(clients_)) connection->leave(1001, words.c_str(), kLastFarewell);
  });
  // What is left ends within kLastFarewell; should something not, the program still ends.
  if (ended_.get_future().wait_for(3 * kLastFarewell) == std::future_status::timeout) io_.stop();
  thread_.join();
  if (local_) unlink(config_.address.path.c_str());
}

}  // namespace saccade::ui
