#include "ui/web/web_state.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace saccade::ui {
namespace {

using Json = nlohmann::ordered_json;

double seconds(std::int64_t ns) { return std::round(static_cast<double>(ns) * 1e-6) * 1e-3; }

// Names of files may be any bytes.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string page_state(const ViewSettings& settings, const ViewFacts& facts, const PageFacts& page) {
  Json views = Json::array();
  for (const EnumName<View>& view : kViews) {
    if (has_view(view.value, settings.pipeline, facts.look.recorded)) views.push_back(view.text);
  }
  Json state{{"type", "state"},
             {"title", facts.stream != nullptr ? facts.stream->uri : std::string()},
             {"t", seconds(facts.time.pts_ns - facts.time.start_pts_ns)},
             {"frame", facts.time.frame},
             {"duration", seconds(facts.time.duration_ns)},
             {"seekable", facts.time.seekable},
             {"live", facts.stream != nullptr && facts.stream->live},
             {"paused", settings.paused},
             {"ended", facts.time.ended},
             {"loop", settings.loop},
             {"speed", settings.speed},
             {"view", name(settings.view)},
             {"level", settings.level},
             {"views", views},
             {"panel", settings.overlay},
             {"fps", std::round(facts.pace.fps_shown * 10) / 10},
             {"gaze", {std::round(facts.look.gaze.u * 1e4) / 1e4, std::round(facts.look.gaze.v * 1e4) / 1e4}},
             {"patches", facts.look.patches},
             {"width", page.width_px},
             {"height", page.height_px},
             {"applied", page.applied},
             {"rung", page.rung},
             {"rung_fixed", page.quality_fixed},
             {"cursor", page.cursor},
             {"typing", page.typing},
             {"escape", page.escape},
             {"error", facts.error},
             {"waits", facts.state},
             {"message", facts.message},
             {"note", facts.note}};
  if (page.fullscreen) state["fullscreen"] = true;
  return text_of(state);
}

std::string page_clipboard(const std::string& what, const std::string& text) {
  return text_of(Json{{"type", "clipboard"}, {"what", what}, {"text", text}});
}

}  // namespace saccade::ui
