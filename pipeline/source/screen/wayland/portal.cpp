#include "pipeline/source/screen/wayland/portal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "pipeline/error.h"

namespace saccade::wayland {
namespace {

constexpr const char* kName = "org.freedesktop.portal.Desktop";
constexpr const char* kPath = "/org/freedesktop/portal/desktop";
constexpr const char* kScreenCast = "org.freedesktop.portal.ScreenCast";
constexpr std::chrono::seconds kPortalsPatience{25};  // what needs no person
constexpr std::chrono::seconds kPersonsPatience{120};
constexpr std::chrono::milliseconds kMoment{100};  // the stop flag has no signal
constexpr std::uint32_t kUntilRevoked = 2;         // persist_mode
constexpr std::uint32_t kWithTokens = 4;           // version

struct BusError {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  BusError() = default;
  ~BusError() { sd_bus_error_free(&error); }
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;
  std::string_view name() const { return error.name != nullptr ? error.name : ""; }
  const char* words(int code) const { return error.message != nullptr ? error.message : std::strerror(-code); }
};

const char* what(Sharing sharing) { return sharing == Sharing::kWindow ? "windows" : "monitors"; }

void add_option(sd_bus_message* message, const char* key, const char* value) {
  sd_bus_message_append(message, "{sv}", key, "s", value);
}
void add_option(sd_bus_message* message, const char* key, std::uint32_t value) {
  sd_bus_message_append(message, "{sv}", key, "u", value);
}

}  // namespace

Portal::Portal(const PortalRequest& request, const Log& log) : request_(request), log_(log) {
  load_bus_calls(request.uri);
  sd_bus* bus = nullptr;
  if (const int fault = sd_bus_open_user(&bus); fault < 0) {
    throw UnavailableError(
        fmt::format("{}: no session bus answers ($DBUS_SESSION_BUS_ADDRESS): {}", request.uri, std::strerror(-fault)));
  }
  bus_.reset(bus);
  check_portal();
  ask("CreateSession", false, kPortalsPatience,
      [](sd_bus_message* message) { add_option(message, "session_handle_token", "saccade"); });
  watch_end();
  select_sources();
  log_.info("{}: asks the desktop which of its {} may be captured", request.uri, what(request.sharing));
  ask("Start", true, kPersonsPatience, nullptr);
  if (!has_node_) throw UnavailableError(fmt::format("{}: the desktop's portal named no stream", request.uri));
  keep_token();
}

Portal::~Portal() = default;

int Portal::fd() const { return sd_bus_get_fd(bus_.get()); }

std::uint32_t Portal::property(const char* name) {
  std::uint32_t value = 0;
  BusError fault;
  const int code = sd_bus_get_property_trivial(bus_.get(), kName, kPath, kScreenCast, name, &fault.error, 'u', &value);
  if (code >= 0) return value;
  constexpr const char* kAdvice =
      "install xdg-desktop-portal and the backend of your desktop (xdg-desktop-portal-gnome, -kde, -wlr)";
  const bool lacks_interface = fault.name() == "org.freedesktop.DBus.Error.InvalidArgs" ||
                               fault.name() == "org.freedesktop.DBus.Error.UnknownInterface" ||
                               fault.name() == "org.freedesktop.DBus.Error.UnknownMethod";
  if (lacks_interface)
    throw UnavailableError(fmt::format("{}: the desktop's portal shares no screen; {}", request_.uri, kAdvice));
  throw UnavailableError(
      fmt::format("{}: no desktop portal answers ({}); {}", request_.uri, fault.words(code), kAdvice));
}

void Portal::check_portal() {
  version_ = property("version");
  const std::uint32_t offered = property("AvailableSourceTypes");
  if ((offered & static_cast<std::uint32_t>(request_.sharing)) == 0) {
    const Sharing other = request_.sharing == Sharing::kWindow ? Sharing::kMonitor : Sharing::kWindow;
    throw UnavailableError(fmt::format("{}: this desktop's portal shares no {}, only {}", request_.uri,
                                       what(request_.sharing), what(other)));
  }
  const std::uint32_t modes = version_ >= 2 ? property("AvailableCursorModes") : 1;
  for (const PointerAs mode : {PointerAs::kData, PointerAs::kPixels}) {
    if ((modes & static_cast<std::uint32_t>(mode)) == 0) continue;
    if (mode == PointerAs::kPixels && !request_.pointer) continue;
    pointer_ = mode;
    return;
  }
  if (!request_.pointer) return;
  log_.warn("{}: this desktop's portal gives no pointer: the picture lacks it", request_.uri);
}

Portal::Message Portal::new_call(const char* method) const {
  sd_bus_message* message = nullptr;
  const int code = sd_bus_message_new_method_call(bus_.get(), &message, kName, kPath, kScreenCast, method);
  if (code < 0) throw UnavailableError(fmt::format("{}: {}: {}", request_.uri, method, std::strerror(-code)));
  return Message(message);
}

Portal::Message Portal::call(const Message& message) {
  BusError fault;
  sd_bus_message* reply = nullptr;
  const int code = sd_bus_call(bus_.get(), message.get(), 0, &fault.error, &reply);
  if (code < 0) {
    throw UnavailableError(
        fmt::format("{}: the desktop's portal shares no screen: {}", request_.uri, fault.words(code)));
  }
  return Message(reply);
}

// The names of requests are known beforehand, so that no answer can come before it is listened for.
void Portal::ask(const char* method, bool on_session, std::chrono::seconds patience,
                 const std::function<void(sd_bus_message*)>& add_options) {
  const char* unique = nullptr;
  sd_bus_get_unique_name(bus_.get(), &unique);
  std::string sender = unique != nullptr ? unique + 1 : "";  // without its colon
  std::replace(sender.begin(), sender.end(), '.', '_');
  const std::string token = fmt::format("saccade{}", ++asked_);
  const std::string path = fmt::format("{}/request/{}/{}", kPath, sender, token);
  sd_bus_match_signal(bus_.get(), nullptr, kName, path.c_str(), "org.freedesktop.portal.Request", "Response",
                      on_response, this);
  const Message message = new_call(method);
  if (on_session) sd_bus_message_append(message.get(), "o", session_.c_str());
  if (std::string_view(method) == "Start") sd_bus_message_append(message.get(), "s", "");  // no window of ours
  sd_bus_message_open_container(message.get(), 'a', "{sv}");
  add_option(message.get(), "handle_token", token.c_str());
  if (add_options) add_options(message.get());
  sd_bus_message_close_container(message.get());
  has_response_ = false;
  call(message);
  const auto end = std::chrono::steady_clock::now() + patience;
  for (process(); !has_response_; process()) {
    if (request_.stop && *request_.stop) {
      throw Error(ErrorKind::kInterrupted, fmt::format("{}: interrupted while it was being opened", request_.uri));
    }
    if (lost_) throw UnavailableError(fmt::format("{}: the desktop's portal has gone", request_.uri));
    if (std::chrono::steady_clock::now() >= end) {
      throw Refused(fmt::format("{}: no answer within {} s: in the desktop's dialog, choose what to share",
                                request_.uri, patience.count()));
    }
    pollfd file{fd(), POLLIN, 0};
    poll(&file, 1, static_cast<int>(kMoment.count()));
  }
  if (response_ == 1) throw Refused(fmt::format("{}: sharing was denied in the desktop's dialog", request_.uri));
  if (response_ != 0)
    throw UnavailableError(fmt::format("{}: the desktop's portal closed the request without an answer", request_.uri));
}

void Portal::select_sources() {
  ask("SelectSources", true, kPortalsPatience, [this](sd_bus_message* message) {
    add_option(message, "types", static_cast<std::uint32_t>(request_.sharing));
    if (version_ >= 2) add_option(message, "cursor_mode", static_cast<std::uint32_t>(pointer_));
    if (request_.token_path.empty()) return;
    if (version_ >= kWithTokens) return read_token(message);
    log_.warn("{}: this desktop's portal remembers no choice: it asks each time", request_.uri);
  });
}

// A token serves once; the answer to Start has the next one.
void Portal::read_token(sd_bus_message* message) const {
  add_option(message, "persist_mode", kUntilRevoked);
  std::string token;
  std::getline(std::ifstream(request_.token_path), token);
  if (!token.empty()) add_option(message, "restore_token", token.c_str());
}

// For its owner alone: who has it captures the screen unasked.
void Portal::keep_token() const {
  if (token_.empty() || request_.token_path.empty()) return;
  const std::string line = token_ + "\n";
  const int file = open(request_.token_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool private_to_owner = file >= 0 && fchmod(file, 0600) == 0;  // it may have been there before
  const bool written = private_to_owner && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int fault = errno;
  if (file >= 0) close(file);
  if (!written) {
    log_.warn("{}: the desktop asks again next time: {} can't be written: {}", request_.uri, request_.token_path,
              std::strerror(fault));
  }
}

int Portal::take_remote() {
  const Message message = new_call("OpenPipeWireRemote");
  sd_bus_message_append(message.get(), "oa{sv}", session_.c_str(), 0);
  const Message reply = call(message);
  int remote = -1;
  if (sd_bus_message_read(reply.get(), "h", &remote) >= 0) remote = fcntl(remote, F_DUPFD_CLOEXEC, 0);
  if (remote < 0) throw UnavailableError(fmt::format("{}: the desktop's portal opens no PipeWire", request_.uri));
  return remote;
}

void Portal::watch_end() {
  sd_bus_match_signal(bus_.get(), nullptr, kName, session_.c_str(), "org.freedesktop.portal.Session", "Closed",
                      on_closed, this);
  sd_bus_add_match(bus_.get(), nullptr,
                   "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
                   "arg0='org.freedesktop.portal.Desktop'",
                   on_owner, this);
}

void Portal::process() {
  int done = 1;
  while (done > 0) done = sd_bus_process(bus_.get(), nullptr);
  if (done < 0) lost_ = true;
}

void Portal::read_response(sd_bus_message* message) {
  if (sd_bus_message_read(message, "u", &response_) < 0) response_ = 2;
  has_response_ = true;
  if (response_ != 0 || sd_bus_message_enter_container(message, 'a', "{sv}") <= 0) return;
  while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
    const char *key = nullptr, *text = nullptr;
    sd_bus_message_read(message, "s", &key);
    const std::string_view name = key != nullptr ? key : "";
    if (name == "session_handle" || name == "restore_token") {
      if (sd_bus_message_read(message, "v", "s", &text) > 0) (name == "restore_token" ? token_ : session_) = text;
    } else if (name == "streams" && sd_bus_message_enter_container(message, 'v', "a(ua{sv})") > 0) {
      sd_bus_message_enter_container(message, 'a', "(ua{sv})");
      while (sd_bus_message_enter_container(message, 'r', "ua{sv}") > 0) {
        if (!has_node_)
          has_node_ = sd_bus_message_read(message, "u", &node_) > 0;
        else
          sd_bus_message_skip(message, "u");
        sd_bus_message_skip(message, "a{sv}");
        sd_bus_message_exit_container(message);
      }
      sd_bus_message_exit_container(message);
      sd_bus_message_exit_container(message);
    } else {
      sd_bus_message_skip(message, "v");
    }
    sd_bus_message_exit_container(message);
  }
}

int Portal::on_response(sd_bus_message* message, void* self, sd_bus_error* /*error*/) {
  static_cast<Portal*>(self)->read_response(message);
  return 0;
}

int Portal::on_closed(sd_bus_message* /*message*/, void* self, sd_bus_error* /*error*/) {
  static_cast<Portal*>(self)->closed_ = true;
  return 0;
}

int Portal::on_owner(sd_bus_message* message, void* self, sd_bus_error* /*error*/) {
  const char *name = nullptr, *before = nullptr, *now = nullptr;
  if (sd_bus_message_read(message, "sss", &name, &before, &now) > 0 && *now == '\0') {
    static_cast<Portal*>(self)->lost_ = true;
  }
  return 0;
}

}  // namespace saccade::wayland
