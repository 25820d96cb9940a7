#include "ui/web/server/web_server.h"

#include <utility>

#include "pipeline/clock.h"
#include "ui/web/server/hub.h"
#include "ui/web/wire/frame_header.h"

namespace saccade::ui {

WebServer::WebServer(const ServerConfig& config, std::function<void()> wake)
    : hub_(std::make_shared<ServerHub>(config, std::move(wake))) {
  hub_->listen();
  hub_->start();
}

WebServer::~WebServer() { hub_->stop(farewell_); }

void WebServer::set_farewell(std::string why) { farewell_ = std::move(why); }

std::string WebServer::authority() const { return hub_->authority_; }
std::uint16_t WebServer::port() const { return hub_->port_; }

std::vector<InputMessage> WebServer::take_inputs() {
  return hub_->locked([&] {
    std::vector<InputMessage> taken(std::make_move_iterator(hub_->inputs_.begin()),
                                    std::make_move_iterator(hub_->inputs_.end()));
    hub_->inputs_.clear();
    return taken;
  });
}

Audience WebServer::audience(std::size_t pictures_coming) const {
  return hub_->locked([&] {
    const std::int64_t now_ns = steady_now_ns();
    Audience audience;
    audience.driver = hub_->driver_;
    for (const auto& [id, connection] : hub_->clients_) {
      ++audience.clients;
      if (!connection->flow.watches(now_ns)) continue;
      ++audience.watching;
      audience.ready = audience.ready || connection->flow.is_ready(pictures_coming);
    }
    return audience;
  });
}

bool WebServer::take_newcomers() {
  return hub_->locked([&] { return std::exchange(hub_->newcomers_, false); });
}

void WebServer::publish(ServedPicturePtr picture) {
  hub_->locked([&] {
    for (const auto& [id, connection] : hub_->clients_) connection->flow.offer(picture);
  });
  hub_->for_clients([](const ConnectionPtr& connection) { connection->pump(); });
}

void WebServer::publish_state(std::string json) {
  hub_->locked([&] { hub_->state_ = std::move(json); });
  hub_->for_clients([](const ConnectionPtr& connection) { connection->tell_state(); });
}

void WebServer::tell_driver(std::string json) {
  hub_->for_driver([message = outgoing(std::move(json))](const ConnectionPtr& driver) { driver->send(message); });
}

void WebServer::send_driver(const ServedFile& file) {
  const auto header = pack({.kind = MessageKind::kFile});
  std::string bytes(header.begin(), header.end());
  bytes += file.name;
  bytes += '\0';
  bytes += file.bytes;
  hub_->for_driver(
      [message = outgoing(std::move(bytes), false)](const ConnectionPtr& driver) { driver->send(message); });
}

int WebServer::rung() const {
  return hub_->locked([&] { return hub_->ladder_.rung(); });
}
bool WebServer::quality_is_fixed() const {
  return hub_->locked([&] { return hub_->ladder_.is_fixed(); });
}
void WebServer::fix_quality(std::optional<int> rung) {
  hub_->locked([&] { hub_->ladder_.fix(rung); });
}
double WebServer::bytes_per_s() const {
  return hub_->locked([&] { return hub_->ladder_.bytes_per_s(); });
}

}  // namespace saccade::ui
