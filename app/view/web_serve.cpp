#include "app/view/web_serve.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "app/json/json_file.h"
#include "app/media/png.h"
#include "app/options/save_settings.h"
#include "app/process/exit_code.h"
#include "app/process/stop_signal.h"
#include "app/view/open_input.h"
#include "app/view/view_report.h"
#include "app/view/view_settings.h"
#include "pipeline/error.h"
#include "ui/web/web_view.h"
#include "ui/web/wire/access.h"

namespace saccade {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

constexpr const char* kGoodTokens = "a token has 16 to 128 letters, digits or -._~; `openssl rand -hex 16` makes one";

// Never from the command line, which everybody on this machine can read. Empty: a random one.
std::string token_given() {
  const std::string token = environment("SACCADE_TOKEN");
  if (!token.empty() && !ui::is_good_token(token)) throw UsageError(fmt::format("SACCADE_TOKEN: {}", kGoodTokens));
  return token;
}

std::vector<std::string> origins_of(const ViewOptions& view) {
  std::vector<std::string> origins;
  for (const std::string& text : view.serve_origins) {
    const auto origin = ui::normal_origin(text);
    if (!origin) {
      throw UsageError(OfOption("serve-origin", "'" + text + "'"), "is not an origin, as https://hub.example:8443");
    }
    origins.push_back(*origin);
  }
  return origins;
}

ui::ListenAddress address_of(const ViewOptions& view) {
  const std::string text = view.serve.value_or("auto");
  try {
    return ui::parse_listen_address(text == "auto" ? "" : text);
  } catch (const UsageError& error) {
    throw_fault(of_option(error.fault(), "serve"));
  }
}

bool is_loopback(const std::string& authority) {
  return authority.starts_with("127.") || authority.starts_with("[::1]") || authority.starts_with("localhost:");
}

bool is_any(const ui::ServedAt& at) {
  return at.authority.starts_with("0.0.0.0:") || at.authority.starts_with("[::]:");
}

std::string this_user() {
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr ? "USER" : entry->pw_name;
}

std::string this_host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && *name != '\0' ? name : "HOST";
}

struct SshServer {
  std::string address, port;
};

// What the person's ssh reached: CLIENT PORT SERVER PORT. Empty address: nothing says.
SshServer ssh_server() {
  SshServer found;
  std::string client, client_port;
  std::istringstream words(environment("SSH_CONNECTION"));
  words >> client >> client_port >> found.address >> found.port;
  return found;
}

constexpr int kForwardedPort = 7373;  // on the person's machine, to a socket in the file system

// Where the server listens, not "localhost", which may be another address of this machine.
void print_ssh_line(const ui::ServedAt& at) {
  const SshServer server = ssh_server();
  if (server.address.empty()) {
    if (at.port == 0) {
      fmt::print(stderr, "saccade: a browser reaches {} by ssh -N -L {}:{} HOST\n", at.authority, kForwardedPort,
                 command_word(std::filesystem::absolute(at.authority).string()));
    }
    return;
  }
  const int port = at.port == 0 ? kForwardedPort : at.port;
  const std::string target = at.port == 0 ? std::filesystem::absolute(at.authority).string()
                             : is_any(at) ? fmt::format("127.0.0.1:{}", at.port)
                                          : at.authority;
  const std::string other_port = server.port.empty() || server.port == "22" ? "" : "-p " + server.port + " ";
  fmt::print(stderr, "saccade: on your own machine: ssh -N -L {} {}{}@{}\n",
             command_word(fmt::format("{}:{}", port, target)), other_port, this_user(), server.address);
}

// A page is reached by a name of this machine, not by "any address".
std::string base_url(const ui::ServedAt& at) {
  if (at.port == 0) return fmt::format("http://localhost:{}/", kForwardedPort);
  return is_any(at) ? fmt::format("http://{}:{}/", this_host(), at.port) : fmt::format("http://{}/", at.authority);
}

void announce(const Options& options, const ui::ServedAt& at) {
  const std::string url = base_url(at);
  const std::string drive = fmt::format("{}#{}", url, at.control_token),
                    watch = fmt::format("{}#{}", url, at.watch_token);
  if (options.json) {
    const Json line{
        {"event", "listening"}, {"url", drive}, {"watch_url", watch}, {"address", at.authority}, {"port", at.port}};
    fmt::print("{}\n", json_text(line, -1));
  } else {
    fmt::print("{}\n", drive);
  }
  std::fflush(stdout);
  if (at.port != 0 && !is_loopback(at.authority)) {
    fmt::print(stderr, "saccade: {} can be reached from other machines, and what is sent there is not encrypted\n",
               at.authority);
  }
  print_ssh_line(at);
}

std::string picture_file(const ui::Picture& picture) {
  RgbImage image(picture.width, picture.height);
  image.data = picture.rgb;
  const auto bytes = encode_png(image, "screenshot");
  return {bytes.begin(), bytes.end()};
}

ui::WebHooks make_hooks(const Options& options, const StopSignal& stop) {
  ui::WebHooks hooks;
  hooks.listening = [&options](const ui::ServedAt& at) { announce(options, at); };
  hooks.settings_file = [](const ui::ViewSettings& settings) { return settings_toml(settings.pipeline); };
  hooks.command_line = [&options](const ui::ViewSettings& settings) {
    return dump_command(options, settings.pipeline);
  };
  hooks.picture_file = picture_file;
  if (options.json) {
    hooks.report = [](const char* event, const ui::Viewer& viewer) { print_state(event, viewer); };
  }
  hooks.stopped = [&stop] { return stop.requested(); };
  return hooks;
}

}  // namespace

int run_served(const Options& options, const SourceConfig& source) {
  ui::WebViewConfig config;
  config.source = source;
  config.source.loops = 0;  // the viewer begins again by itself
  config.open = open_input;
  config.queue_policy = options.queue_policy;
  config.settings = settings_of(options);
  config.width_px = options.view.width_px;
  config.height_px = options.view.height_px;
  config.ui_scale = static_cast<float>(options.view.ui_scale);
  config.address = address_of(options.view);
  config.token = token_given();
  config.origins = origins_of(options.view);
  config.alarm = std::make_shared<ui::Alarm>();
  const StopSignal stop([alarm = config.alarm] { alarm->ring(); });
  const ui::WebViewResult result = ui::run_web_view(config, make_hooks(options, stop));
  return static_cast<int>(report_end(source, result.error, result.damage));
}

}  // namespace saccade
