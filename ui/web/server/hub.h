// What the server's connections share: who listens, who watches, who drives.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "ui/web/server/connection.h"
#include "ui/web/server/page_files.h"
#include "ui/web/server/repeated_warning.h"
#include "ui/web/server/web_server.h"
#include "ui/web/wire/quality.h"

namespace saccade::ui {

using ConnectionPtr = std::shared_ptr<Connection>;

// The network thread's, but for what says otherwise.
class ServerHub : public std::enable_shared_from_this<ServerHub> {
 public:
  ServerHub(const ServerConfig& config, std::function<void()> wake)
      : config_(config), wake_(std::move(wake)), policy_(content_policy(config.access.origins())) {}

  void listen();
  void start() {
    accept();
    beat();
    thread_ = std::thread([this] {
      io_.run();
      ended_.set_value();
    });
  }
  void stop(const std::string& why);  // empty: nothing is known

  // Network thread: what connections report.
  void refused_origin(const std::string& origin);
  void said_hello(const ConnectionPtr& connection, const HelloMessage& hello);
  void take_control(const ConnectionPtr& connection);
  void add_input(Connection& connection, InputMessage&& message);
  void acknowledged(Connection& connection, std::uint32_t seq);
  void hidden(Connection& connection, bool hidden);
  void gone(const ConnectionPtr& connection);
  void thin_out();  // closes the oldest connection where too many have sent no whole request
  std::string role_of(const Connection& connection);
  const ServerConfig& config() const { return config_; }
  const std::string& policy() const { return policy_; }
  template <typename Work>
  auto locked(Work&& work) {
    const std::lock_guard lock(mutex_);
    return work();
  }
  std::string state() {
    return locked([this] { return state_; });
  }

 private:
  friend class WebServer;
  void listen_tcp();
  void listen_path();
  void accept();
  template <typename Acceptor>
  void accept_from(Acceptor& acceptor);
  void add(Socket socket);
  bool is_full(Role role) const;
  void beat();
  void warn(const std::string& line) const;  // unless it is empty
  void choose_driver();
  void tell_roles();
  template <typename Work>
  void for_clients(Work work) {  // any thread: `work` runs on the network's
    asio::post(io_, [self = shared_from_this(), work] {
      for (const auto& [id, connection] : std::map(self->clients_)) work(connection);
    });
  }
  void for_driver(std::function<void(const ConnectionPtr&)> work);

  const ServerConfig config_;
  const std::function<void()> wake_;
  const std::string policy_;
  asio::io_context io_{1};
  std::optional<asio::ip::tcp::acceptor> tcp_;
  std::optional<asio::local::stream_protocol::acceptor> local_;
  asio::steady_timer beat_{io_}, again_{io_};
  std::string authority_;
  std::uint16_t port_ = 0;
  std::thread thread_;
  std::promise<void> ended_;         // the network thread has
  std::list<ConnectionPtr> guests_;  // all that are not clients, oldest first
  RepeatedWarning wrong_tokens_, refused_origins_;
  std::uint32_t last_id_ = 0;
  bool stopping_ = false;

  mutable std::mutex mutex_;  // of what follows, and of each connection's flow
  std::map<std::uint32_t, ConnectionPtr> clients_;
  std::uint32_t driver_ = 0;
  std::deque<InputMessage> inputs_;
  bool newcomers_ = false;
  QualityLadder ladder_;
  std::string state_;
};

}  // namespace saccade::ui
