#include "app/view/view_report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "app/json/json_file.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

Json settings_json(const ui::ViewSettings& s) {
  const LatticeConfig& lattice = s.pipeline.lattice;
  const Acuity* acuity = acuity_of(lattice);
  const auto patches = patches_asked(lattice);
  Json json{{"view", ui::name(s.view)},
            {"level", s.level},
            {"split", s.split},
            {"compare", ui::name(s.compare)},
            {"zoom", s.zoom},
            {"pan", {s.pan_x, s.pan_y}},
            {"linear", s.linear},
            {"overlay", s.overlay},
            {"facts_open", s.facts_open},
            {"settings_open", s.settings_open},
            {"marks", s.marks},
            {"outlines", s.outlines},
            {"scanpath", s.scanpath},
            {"boxes", s.boxes},
            {"help", s.help},
            {"speed", s.speed},
            {"paused", s.paused},
            {"loop", s.loop},
            {"vsync", s.vsync},
            {"fullscreen", s.fullscreen},
            {"levels", s.pipeline.levels},
            {"threshold", s.pipeline.diff.threshold},
            {"min_samples", s.pipeline.diff.min_samples},
            {"patches", patches ? Json(*patches) : Json(nullptr)},
            {"fov_deg", lattice.fov_deg},
            {"rate_hz", s.pipeline.scanpath.rate_hz}};
  json["e0"] = acuity != nullptr ? Json(acuity->e0) : Json(nullptr);
  json["m0"] = acuity != nullptr ? Json(acuity->m0) : Json(nullptr);
  return json;
}

Json dump_json(const ui::RecordedFacts& dump) {
  const auto known = [](std::int64_t count) { return count >= 0 ? Json(count) : Json(nullptr); };
  Json json{{"input", dump.input},
            {"emission", dump.emission},
            {"emissions", dump.emissions},
            {"frame", dump.video_frame},
            {"damaged_tiles", known(dump.damaged_tiles)},
            {"patches", dump.patches},
            {"changed", known(dump.changed)},
            {"patches_so_far", dump.patches_so_far},
            {"changed_so_far", known(dump.changed_so_far)},
            {"complete", dump.complete}};
  if (!dump.complete) return json;
  json["frames"] = dump.frames;
  json["media_s"] = dump.seconds;
  json["tile_share"] = dump.tile_share;
  json["byte_share"] = dump.byte_share;
  return json;
}

Json receiver_json(const ui::ReceiverFacts& receiver) {
  const bool known = receiver.psnr_db && std::isfinite(*receiver.psnr_db);  // JSON has no infinity
  return {{"tokens_last_look", receiver.tokens_last_look},
          {"tokens_last_s", receiver.tokens_last_s},
          {"psnr_db", known ? Json(*receiver.psnr_db) : Json(nullptr)}};
}

Json views_json(const ui::ViewsFacts& views) {
  Json last = Json::array();
  for (const View& view : views.last) {
    const FrameBox& box = view.box;
    last.push_back({{"box", {box.x, box.y, box.x + box.width, box.y + box.height}},
                    {"level", view.level},
                    {"tokens", view.tokens},
                    {"reason", name(view.reason)}});
  }
  return {{"last", last}, {"images", views.images}, {"tokens", views.tokens}};
}

Json state_json(const ui::ViewSettings& settings, const ui::ViewFacts& facts) {
  return {{"frame", facts.time.frame},
          {"pts_s", seconds(facts.time.pts_ns)},
          {"t_s", seconds(facts.time.pts_ns - facts.time.start_pts_ns)},
          {"duration_s", seconds(facts.time.duration_ns)},
          {"ended", facts.time.ended},
          {"error", facts.error},
          {"state", facts.state},
          {"message", facts.message},
          {"note", facts.note},
          {"save_exists", facts.save_exists},
          {"asks_to_quit", facts.asks_to_quit},
          {"gaze", {{"u", facts.look.gaze.u}, {"v", facts.look.gaze.v}, {"in_flight", facts.look.gaze.in_flight}}},
          {"fixation", facts.look.gaze.fixation},
          {"patches", facts.look.patches},
          {"receiver", facts.receiver.there ? receiver_json(facts.receiver) : Json(nullptr)},
          {"views", settings.boxes ? views_json(facts.views) : Json(nullptr)},
          {"recorded", facts.look.recorded},
          {"dump", facts.look.recorded ? dump_json(facts.look.dump) : Json(nullptr)},
          {"fixations", facts.look.fixations.size()},
          {"e0", facts.look.solved_e0},
          {"damaged_tiles", facts.step.damaged_tiles},
          {"tiles", facts.step.tiles},
          {"frames", facts.step.counters.frames},
          {"dropped_late", facts.pace.dropped_late},
          {"dropped_queue", facts.pace.dropped_queue},
          {"fps", facts.pace.fps_shown},
          {"decoder", facts.device.decoder},
          {"renderer", facts.device.renderer},
          {"settings", settings_json(settings)}};
}

void print_line(const Json& json) {
  fmt::print("{}\n", json_text(json, -1));
  std::fflush(stdout);
}

}  // namespace

void print_shot(bool json, const std::string& path, double t_s, const ui::ViewSettings& settings,
                const ui::ViewFacts& facts) {
  if (!json) {
    fmt::print("{}: {} at {:.6f} s, frame {}\n", path, ui::name(settings.view), t_s, facts.time.frame);
    return;
  }
  Json line = state_json(settings, facts);
  line["path"] = path;
  print_line(line);
}

void print_state(const char* event, const ui::Viewer& viewer) {
  const ui::ViewFacts& facts = viewer.facts;
  Json line = state_json(viewer.settings, facts);
  line["event"] = event;
  Json times = Json::object();
  for (const ui::StageTimes& stage : facts.cost.recent) {
    times[name(stage.stage)] = {{"p50_ms", stage.p50_ms}, {"p99_ms", stage.p99_ms}};
  }
  line["stages"] = times;
  line["draw_ms"] = facts.cost.draw_ms;
  line["drawn"] = facts.pictures_drawn;
  if (std::string_view(event) == "draw") {
    Json controls = Json::object();
    for (const auto& [what, at] : viewer.overlay().controls()) {
      controls[std::string(what)] = {at.left, at.top, at.right, at.bottom};
    }
    line["controls"] = controls;
  }
  print_line(line);
}

ExitCode report_end(const SourceConfig& source, const std::string& error, const std::string& damage) {
  if (!damage.empty()) {
    fmt::print(stderr, "saccade: {}: the input is damaged ({}); what decodes was shown\n", masked_uri(source.uri),
               damage);
  }
  return error.empty() && damage.empty() ? ExitCode::kOk : ExitCode::kPartial;
}

}  // namespace saccade
