// The server of a viewer in a browser: a few static files over HTTP, and a WebSocket for those who know a token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/log.h"
#include "ui/web/wire/access.h"
#include "ui/web/wire/client_flow.h"
#include "ui/web/wire/client_message.h"
#include "ui/web/wire/listen_address.h"
#include "ui/web/wire/quality.h"

namespace saccade::ui {

struct ServerConfig {
  ListenAddress address;
  Access access;
  Log log;
};

// Who looks on, at one moment.
struct Audience {
  int clients = 0;           // that said hello
  int watching = 0;          // whose page is seen, and draws
  bool ready = false;        // one of them could take a picture at once
  std::uint32_t driver = 0;  // whose inputs count; 0: nobody's
};

struct ServedFile {
  std::string name;
  std::string bytes;
};

class ServerHub;

// Limits: a request's head of 8 KiB, messages of 4 KiB, 8 clients (at most 7 that only watch), 64 connections that sent
// nothing and 64 whose request or hello is not whole (the oldest closes), 10 s for these, 30 s for an answer, 1000
// messages a second; a page that doesn't answer a ping for 40 s is gone.
class WebServer {
 public:
  // Listens, and serves on a thread of its own. wake: called on that thread when inputs or the audience changed.
  // Throws UnavailableError when it can't listen there, naming the place.
  WebServer(const ServerConfig& config, std::function<void()> wake);
  ~WebServer();                        // tells the pages, and closes
  void set_farewell(std::string why);  // what they are told then, besides that it ended
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // What follows is for any thread.
  std::string authority() const;  // "127.0.0.1:7373"; of a socket in the file system its path
  std::uint16_t port() const;     // 0 likewise

  std::vector<InputMessage> take_inputs();  // of the driver, in order; moves in a row are one
  Audience audience(std::size_t pictures_coming) const;
  bool take_newcomers();  // whether somebody came, or is seen again, since the last call

  void publish(ServedPicturePtr picture);  // to all
  void publish_state(std::string json);    // to all, now and when they come
  void tell_driver(std::string json);
  void send_driver(const ServedFile& file);

  int rung() const;  // of the quality ladder, by the driver's link
  bool quality_is_fixed() const;
  void fix_quality(std::optional<int> rung);
  double bytes_per_s() const;  // of the driver's link; 0: not known

 private:
  std::string farewell_;
  std::shared_ptr<ServerHub> hub_;
};

}  // namespace saccade::ui
