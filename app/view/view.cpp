// saccade view: the window, or pictures of what it would show.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <system_error>

#include "app/commands.h"
#include "app/options/hint_flags.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "pipeline/error.h"

#if SACCADE_VIEW
#include "app/media/png.h"
#include "app/options/save_settings.h"
#include "app/process/stop_signal.h"
#include "app/view/open_input.h"
#include "app/view/view_report.h"
#include "app/view/view_settings.h"
#include "pipeline/source/screen/screen_source.h"
#include "ui/viewer/offscreen.h"
#include "ui/window/window.h"
#endif
#if SACCADE_WEB
#include "app/view/web_serve.h"
#endif

namespace saccade {

#if SACCADE_VIEW
namespace {

void save(const ui::Picture& picture, const std::string& path) {
  RgbImage image(picture.width, picture.height);
  image.data = picture.rgb;
  write_png(image, path);
}

// saccade-00.00.02.040.png in the working folder, as mpv names them by time; a number more where that exists.
std::string free_picture_name(double t_s) {
  const auto ms = static_cast<long long>(t_s * 1000 + 0.5);
  const std::string stem =
      fmt::format("saccade-{:02}.{:02}.{:02}.{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
  std::string name = stem + ".png";
  std::error_code ignored;
  for (int n = 2; std::filesystem::exists(name, ignored); ++n) name = fmt::format("{}-{}.png", stem, n);
  return name;
}

double shown_s(const ui::ViewFacts& facts) {
  return static_cast<double>(facts.time.pts_ns - facts.time.start_pts_ns) * 1e-9;
}

int run_offscreen(const Options& options, const SourceConfig& source) {
  ui::OffscreenConfig config;
  config.source = source;
  config.open = open_input;
  config.settings = settings_of(options);
  config.width_px = options.view.width_px;
  config.height_px = options.view.height_px;
  config.scale = static_cast<float>(options.view.ui_scale);
  for (const auto& shot : options.view.screenshots) config.shots.push_back({shot.t_s, shot.path});
  config.source.stop = std::make_shared<std::atomic<bool>>(false);
  const StopSignal stop([token = config.source.stop] { *token = true; });
  const auto save_shot = [&](const ui::Shot& shot, const ui::Picture& picture, const ui::Viewer& viewer) {
    save(picture, shot.path);
    print_shot(options.json, shot.path, shown_s(viewer.facts), viewer.settings, viewer.facts);
  };
  const ui::OffscreenResult result = ui::render_offscreen(config, save_shot, [&] { return stop.requested(); });
  if (result.saved < static_cast<int>(config.shots.size())) return static_cast<int>(ExitCode::kInterrupted);
  return static_cast<int>(report_end(source, result.error, result.damage));
}

ui::WindowHooks make_hooks(const Options& options, const StopSignal& stop) {
  ui::WindowHooks hooks;
  hooks.save_picture = [](const ui::Picture& picture, const ui::ViewFacts& facts) -> std::string {
    const std::string name = free_picture_name(shown_s(facts));
    try {
      save(picture, name);
      return "saved " + name;
    } catch (const Error& error) {
      return error_text(error);
    }
  };
  hooks.save_settings = [](const std::string& path, const ui::ViewSettings& settings, bool replace) -> ui::Saved {
    try {
      if (!save_settings(settings.pipeline, path, replace)) return {true, false, {}};
      return {false, true, "saved " + path + "; saccade dump --config reads it"};
    } catch (const Error& error) {
      return {false, false, error_text(error)};
    }
  };
  if (options.json) {
    hooks.report = [](const char* event, const ui::Viewer& viewer) { print_state(event, viewer); };
  }
  hooks.stopped = [&stop] { return stop.requested(); };
  return hooks;
}

int run_in_window(const Options& options, const SourceConfig& source) {
  ui::WindowConfig config;
  config.source = source;
  config.open = open_input;
  config.source.loops = 0;  // the window begins again by itself
  config.queue_policy = options.queue_policy;
  config.settings = settings_of(options);
  config.width_px = options.view.width_px;
  config.height_px = options.view.height_px;
  config.ui_scale = static_cast<float>(options.view.ui_scale);
  if (may_show_window(source.uri, "saccade")) {
    spdlog::warn(
        "{}: the viewer's window is on this screen, so it may see itself; watch one window (window=TITLE), or leave "
        "the "
        "viewer out (hide=saccade)",
        source.uri);
  }
  const StopSignal stop([] { ui::wake_window(); });
  const ui::WindowResult result = ui::run_window(config, make_hooks(options, stop));
  return static_cast<int>(report_end(source, result.error, result.facts.damage));
}

}  // namespace

#if !SACCADE_WEB
int run_served(const Options&, const SourceConfig&) {
  throw UnavailableError(
      "view: this build serves no page; build with Boost's headers and libjpeg-turbo (scripts/deps)");
}
#endif

int run_view(const Options& options) {
  SourceConfig source = options.source;
  source.uri = options.inputs.front();
  if (options.view.serve) return run_served(options, source);
  return options.view.offscreen ? run_offscreen(options, source) : run_in_window(options, source);
}

#else

int run_view(const Options&) {
  throw UnavailableError("view: this build has no viewer; build with OpenGL, GLFW and Dear ImGui (scripts/deps)");
}

#endif

}  // namespace saccade
