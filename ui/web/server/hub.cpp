#include "ui/web/server/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "pipeline/clock.h"
#include "ui/web/wire/frame_header.h"

namespace saccade::ui {

void ServerHub::warn(const std::string& line) const {
  if (!line.empty()) config_.log.write(LogLevel::kWarning, line);
}

void ServerHub::refused_origin(const std::string& origin) {
  warn(refused_origins_.came(fmt::format("view: a page of {} was refused; name its origin to allow it", origin),
                             steady_now_ns()));
}

void ServerHub::said_hello(const ConnectionPtr& connection, const HelloMessage& hello) {
  const Role role = config_.access.role_of(hello.token);
  if (role == Role::kNone) {
    warn(wrong_tokens_.came("view: somebody came with a wrong token", steady_now_ns()));
    return connection->leave(kCloseToken, "the token is wrong");
  }
  if (hello.version != kPageVersion) return connection->leave(kCloseVersion, "the page is of another version");
  if (is_full(role)) return connection->leave(kCloseFull, "as many as may watch do so already");
  guests_.remove(connection);
  locked([&] {
    connection->greet(++last_id_, role);
    clients_[last_id_] = connection;
    newcomers_ = true;
    if (driver_ == 0) choose_driver();
  });
  connection->measure();
  connection->tell_state();
  tell_roles();
  wake_();
}

// The last place is kept for a page that may drive.
bool ServerHub::is_full(Role role) const {
  const auto watchers = std::count_if(clients_.begin(), clients_.end(),
                                      [](const auto& client) { return client.second->role == Role::kWatch; });
  const bool last = role == Role::kWatch && static_cast<std::size_t>(watchers) + 1 >= kMostClients;
  return last || clients_.size() >= kMostClients;
}

// Under the mutex. Whoever came first among those who may and whose page is seen, else among those who may.
void ServerHub::choose_driver() {
  driver_ = 0;
  inputs_.clear();
  for (const bool seen : {true, false}) {
    for (const auto& [id, connection] : clients_) {
      if (driver_ == 0 && connection->role == Role::kControl && (!seen || !connection->flow.hidden())) driver_ = id;
    }
  }
}

void ServerHub::take_control(const ConnectionPtr& connection) {
  const bool taken = locked([&] {
    if (connection->role != Role::kControl || driver_ == connection->id) return false;
    driver_ = connection->id;
    inputs_.clear();
    return true;
  });
  if (!taken) return;
  tell_roles();
  wake_();
}

void ServerHub::tell_roles() {
  for (const auto& [id, connection] : std::map(clients_)) connection->tell_role();
}

// The token of those who watch goes to those who could drive: they make links of it.
std::string ServerHub::role_of(const Connection& connection) {
  return locked([&] {
    const bool control = connection.role == Role::kControl;
    const bool drives = driver_ == connection.id;
    std::string text = fmt::format(R"({{"type":"role","role":"{}","may_drive":{},"driven":{},"clients":{})",
                                   drives ? "drive" : "watch", control, driver_ != 0, clients_.size());
    if (control) text += fmt::format(R"(,"watch":"{}")", config_.access.watch_token());
    return text + "}";
  });
}

void ServerHub::add_input(Connection& connection, InputMessage&& message) {
  const bool full = locked([&] {
    if (driver_ != connection.id) return false;
    const bool moves = std::holds_alternative<MoveInput>(message.input) && !inputs_.empty() &&
                       std::holds_alternative<MoveInput>(inputs_.back().input);
    if (moves) inputs_.pop_back();
    inputs_.push_back(std::move(message));
    return inputs_.size() > kMostInputs;
  });
  if (full) return connection.leave(kCloseRate, "too many inputs");
  wake_();
}

void ServerHub::acknowledged(Connection& connection, std::uint32_t seq) {
  locked([&] {
    const std::int64_t now_ns = steady_now_ns();
    const auto drawn = connection.flow.acknowledge(seq, now_ns);
    if (!drawn || connection.id != driver_) return;
    if (drawn->rung == kSharpRung || drawn->alone) {
      ladder_.note_bytes(drawn->bytes, drawn->ms, connection.round_trip_ms);
    }
    ladder_.note_ack(drawn->rung, drawn->ms, connection.round_trip_ms, now_ns);
  });
  wake_();
}

void ServerHub::hidden(Connection& connection, bool hidden) {
  locked([&] {
    newcomers_ = newcomers_ || (connection.flow.hidden() && !hidden);
    connection.flow.hide(hidden);
  });
  wake_();
}

void ServerHub::gone(const ConnectionPtr& connection) {
  guests_.remove(connection);
  const bool was_client = locked([&] {
    if (clients_.erase(connection->id) == 0) return false;
    if (driver_ == connection->id) choose_driver();
    return true;
  });
  if (!was_client) return;
  tell_roles();
  wake_();
}

void ServerHub::for_driver(std::function<void(const ConnectionPtr&)> work) {
  asio::post(io_, [self = shared_from_this(), work = std::move(work)] {
    const auto driver = self->clients_.find(self->locked([&] { return self->driver_; }));
    if (driver != self->clients_.end()) work(ConnectionPtr(driver->second));
  });
}

}  // namespace saccade::ui
