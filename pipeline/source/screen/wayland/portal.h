// The desktop's portal (xdg-desktop-portal): asks the person at the desktop what may be captured.
//
// Note [Desktop portal]
// A Wayland client can't see what others draw. Interface org.freedesktop.portal.ScreenCast asks: CreateSession,
// SelectSources and Start each answer later, by signal Response of a Request. Start's answer comes when the person has
// chosen, and names a node of PipeWire (https://flatpak.github.io/xdg-desktop-portal, version 4). The session lives as
// long as its connection to the bus. Signal Closed tells that the person ended it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pipeline/error.h"
#include "pipeline/log.h"
#include "pipeline/source/screen/wayland/bus_calls.h"

namespace saccade::wayland {

enum class Sharing : std::uint8_t { kMonitor = 1, kWindow = 2 };              // the interface's numbers
enum class PointerAs : std::uint8_t { kHidden = 1, kPixels = 2, kData = 4 };  // in the picture, or apart from it

// The person at the desktop refused, or did not answer: asking again would pester them.
class Refused : public UnavailableError {
  using UnavailableError::UnavailableError;
};

struct PortalRequest {
  std::string uri;  // for messages
  Sharing sharing = Sharing::kMonitor;
  bool pointer = true;     // false: its place alone
  std::string token_path;  // a file that remembers the person's choice; empty: none does
  std::shared_ptr<std::atomic<bool>> stop;
};

// One session of the portal. Move-only by pointer; one thread at a time.
class Portal {
 public:
  // Waits for the person, two minutes at most. Throws Refused, UnavailableError if there is no portal, and Error
  // of kind kInterrupted once request.stop is set.
  Portal(const PortalRequest& request, const Log& log);
  ~Portal();
  Portal(const Portal&) = delete;
  Portal& operator=(const Portal&) = delete;

  std::uint32_t node() const { return node_; }  // PipeWire's
  int take_remote();                            // a connection to PipeWire; the caller closes it
  PointerAs pointer() const { return pointer_; }
  int fd() const;  // readable: process() has something to do
  void process();
  bool is_closed() const { return closed_; }  // by the desktop
  bool is_lost() const { return lost_; }      // the bus or the portal has gone

 private:
  struct Disconnect {
    void operator()(sd_bus* bus) const noexcept { sd_bus_flush_close_unref(bus); }
  };
  struct FreeMessage {
    void operator()(sd_bus_message* message) const noexcept { sd_bus_message_unref(message); }
  };
  using Message = std::unique_ptr<sd_bus_message, FreeMessage>;

  void check_portal();
  std::uint32_t property(const char* name);
  Message new_call(const char* method) const;
  Message call(const Message& message);
  void ask(const char* method, bool on_session, std::chrono::seconds patience,
           const std::function<void(sd_bus_message*)>& add_options);
  void select_sources();
  void read_token(sd_bus_message* message) const;
  void keep_token() const;
  void watch_end();
  void read_response(sd_bus_message* message);
  static int on_response(sd_bus_message* message, void* self, sd_bus_error* error);
  static int on_closed(sd_bus_message* message, void* self, sd_bus_error* error);
  static int on_owner(sd_bus_message* message, void* self, sd_bus_error* error);

  const PortalRequest request_;
  const Log log_;
  std::unique_ptr<sd_bus, Disconnect> bus_;
  std::string session_, token_;
  std::uint32_t version_ = 0, node_ = 0, response_ = 0;
  PointerAs pointer_ = PointerAs::kHidden;
  bool has_node_ = false, has_response_ = false, closed_ = false, lost_ = false;
  int asked_ = 0;  // requests so far, for their names
};

}  // namespace saccade::wayland
