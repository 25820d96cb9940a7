// The viewer in a window of its own.
#pragma once

#include <functional>
#include <string>

#include "pipeline/run/frame_queue.h"
#include "pipeline/source/frame/frame_source.h"
#include "ui/picture/view_state.h"
#include "ui/viewer/viewer.h"

namespace saccade::ui {

struct WindowConfig {
  SourceConfig source;
  OpenFeed open = open_video;               // how a source is opened, also one that is dropped
  std::optional<QueuePolicy> queue_policy;  // none: as the source needs it
  ViewSettings settings;
  int width_px = 1280;
  int height_px = 720;
  float ui_scale = 1;  // of text and controls, on top of the monitor's
};

struct Saved {
  bool exists = false;  // a file does, and was kept
  bool saved = false;
  std::string said;  // what became of it, in a line
};

// What the program does for the window. All are called on the main thread; those left empty are not.
struct WindowHooks {
  // Writes a picture, and says in a line what became of it.
  std::function<std::string(const Picture&, const ViewFacts&)> save_picture;
  // Writes the settings; a file that exists only with `replace`.
  std::function<Saved(const std::string& path, const ViewSettings&, bool replace)> save_settings;
  // After each picture drawn, and once at the end; `event` is "frame" for a new one of the video, "draw", "end".
  std::function<void(const char* event, const Viewer&)> report;
  std::function<bool()> stopped;
};

struct WindowResult {
  ViewFacts facts;    // as they were last; its pointers are null
  std::string error;  // not empty: the stream broke
};

// Runs until the person quits. The main thread only. Throws InputError when the first input can't be opened, and
// UnavailableError without a display or without OpenGL 4.5.
WindowResult run_window(const WindowConfig& config, const WindowHooks& hooks);

// Any thread: run_window() looks at `stopped` now.
void wake_window();

}  // namespace saccade::ui
