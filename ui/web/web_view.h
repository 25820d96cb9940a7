// The viewer in a browser: what run_window() is for a window.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/frame_queue.h"
#include "ui/picture/recorded_look.h"
#include "ui/picture/view_state.h"
#include "ui/viewer/viewer.h"
#include "ui/web/alarm.h"
#include "ui/web/wire/listen_address.h"

namespace saccade::ui {

struct WebViewConfig {
  SourceConfig source;
  OpenFeed open = open_video;
  std::optional<QueuePolicy> queue_policy;  // none: as the source needs it
  ViewSettings settings;
  int width_px = 1280, height_px = 720;  // until a page says how large it is
  float ui_scale = 1;                    // on top of the page's own
  ListenAddress address;
  std::string token;                 // of those who drive; empty: a random one
  std::vector<std::string> origins;  // see Access
  std::shared_ptr<Alarm> alarm;      // rings when `stopped` is to be asked
};

struct ServedAt {
  std::string authority;  // "127.0.0.1:7373", or a path
  std::uint16_t port = 0;
  std::string control_token, watch_token;
};

// What the program does for the page. Called on the main thread, if not empty.
struct WebHooks {
  std::function<void(const ServedAt&)> listening;  // once, when there is something to see
  std::function<std::string(const ViewSettings&)> settings_file;
  std::function<std::string(const ViewSettings&)> command_line;  // that dumps what is seen
  std::function<std::string(const Picture&)> picture_file;       // PNG; on any thread, one at a time
  std::function<void(const char* event, const Viewer&)> report;  // as WindowHooks::report
  std::function<bool()> stopped;
};

struct WebViewResult {
  std::string error;   // what broke the stream
  std::string damage;  // what did not come or not decode of it
};

// Runs until `stopped`. The main thread only. Throws InputError when the input can't be opened, UnavailableError
// without OpenGL 4.5 or when the address can't be had.
WebViewResult run_web_view(const WebViewConfig& config, const WebHooks& hooks);

}  // namespace saccade::ui
