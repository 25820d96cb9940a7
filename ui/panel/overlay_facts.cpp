#include "ui/panel/overlay_facts.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>

#include "ui/panel/frame_graph.h"
#include "ui/panel/overlay_text.h"

namespace saccade::ui {
namespace {

constexpr float kKeyPoints = 56;
constexpr double kKiB = 1024.0;

void key(const char* what) {
  text_colored(kDim, "{}", what);
  ImGui::SameLine(points(kKeyPoints));
}

// The end of a text that is too long for the rest of the line: file names differ there.
std::string_view tail(std::string_view what, bool& cut) {
  const auto fits = static_cast<std::size_t>(
      std::max(ImGui::GetContentRegionAvail().x / std::max(ImGui::CalcTextSize("0").x, 1.0f), 4.0f));
  cut = what.size() > fits;
  return cut ? what.substr(what.size() - (fits - 2)) : what;
}

void long_text(std::string_view what, bool keep_end) {
  bool cut = false;
  const std::string_view end = tail(what, cut);
  if (keep_end || !cut) {
    text("{}{}", cut ? ".." : "", end);
  } else {
    text("{}..", what.substr(0, end.size()));
  }
  if (cut && ImGui::IsItemHovered()) {
    ImGui::BeginTooltip();
    text("{}", what);
    ImGui::EndTooltip();
  }
}

// As text(), but cut to the line, with all of it in a tooltip.
template <typename... Args>
void cut_text(fmt::format_string<Args...> format, Args&&... args) {
  fmt::basic_memory_buffer<char, 256> line;
  fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
  long_text({line.data(), line.size()}, false);
}

// 0: not known.
std::string rate_text(double fps) { return fps > 0 ? fmt::format("{:.2f}", fps) : "-"; }

void source_rows(const ViewFacts& facts) {
  key("source");
  if (facts.stream == nullptr) {
    text("-");
    return;
  }
  const StreamInfo& stream = *facts.stream;
  long_text(stream.uri, true);
  if (facts.look.recorded) {
    key("of");
    long_text(facts.look.dump.input, true);
  }
  key("video");
  cut_text("{} {}x{} {} {} fps", stream.codec, stream.width_px, stream.height_px, stream.pixel_format,
           rate_text(facts.pace.fps_source));
  key("colour");
  if (stream.layout == PixelLayout::kRgba8) {
    cut_text("R'G'B', SAR {:.4g}", facts.sar);
  } else {
    cut_text("{} {}, {} bits, SAR {:.4g}", name(facts.color.matrix), name(facts.color.range), facts.color.depth_bits,
             facts.sar);
  }
  key("runs on");
  cut_text("decoder {}, {}: {}", facts.device.decoder, facts.device.backend,
           facts.offscreen ? std::string_view("-") : std::string_view(facts.device.renderer));
  if (facts.look.recorded) {
    key("shown");
    text("emission {} of {}", facts.look.dump.emission, facts.look.dump.emissions);
    tooltip("They count from 0, as the frames of the video of which they were made.");
  }
  key("frame");
  text("{:<8} PTS {:>13.6f} s", facts.look.recorded ? facts.look.dump.video_frame : facts.time.frame,
       static_cast<double>(facts.time.pts_ns) * 1e-9);
}

void pace_rows(const ViewFacts& facts) {
  key("pace");
  text("{:>6} of {:>6} fps", rate_text(facts.offscreen ? 0 : facts.pace.fps_shown), rate_text(facts.pace.fps_source));
  if (!facts.offscreen) {
    ImGui::SameLine();
    text_right(kBright, "queue {:>2}/{:<2}", facts.pace.queue_depth, facts.pace.queue_capacity);
  }
  tooltip(
      "Frames shown a second, now, of those that the video has by its header, else by its frames' times; frames that "
      "wait in the decoder's queue.");
  key("dropped");
  const bool any = facts.pace.dropped_late + facts.pace.dropped_queue + facts.pace.frames_corrupt > 0;
  text_colored(any ? kAlarm : kBright, "late {:<5} queue {:<5} corrupt {}", facts.pace.dropped_late,
               facts.pace.dropped_queue, facts.pace.frames_corrupt);
  tooltip(
      "late: decoded after their time had passed; queue: a live source pushed them out; corrupt: decoded with errors.");
  if (facts.stream == nullptr || !facts.stream->live || facts.offscreen) return;
  key("age ms");
  text("p50 {:<5.0f} p95 {:<5.0f} p99 {:<5.0f} gaps {}", facts.pace.age_p50_ms, facts.pace.age_p95_ms,
       facts.pace.age_p99_ms, facts.pace.gaps);
  tooltip("From a live frame's capture until its patches were there; interruptions of the stream.");
}

// One stage's row: percentiles and, as a bar, what its p99 takes of a frame's time.
void stage_row(const StageTimes& times, const ViewFacts& facts) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(name(times.stage));
  for (const double value_ms : {times.p50_ms, times.p95_ms, times.p99_ms}) {
    ImGui::TableNextColumn();
    if (facts.offscreen || times.count == 0) {
      text_right(kDim, "-");
    } else {
      const bool over = facts.pace.budget_ms > 0 && value_ms > facts.pace.budget_ms;
      text_right(over ? kAlarm : kBright, "{:.2f}", value_ms);
    }
  }
  ImGui::TableNextColumn();
  if (facts.offscreen || facts.pace.budget_ms <= 0 || times.count == 0) {
    text_right(kDim, "-");
    return;
  }
  const auto share = static_cast<float>(times.p99_ms / facts.pace.budget_ms);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const ImU32 color = share > 1 ? IM_COL32(200, 60, 50, 150) : IM_COL32(90, 140, 200, 150);
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width * std::min(share, 1.0f), at.y + ImGui::GetFontSize()},
                                            color);
  text_right(kBright, "{:.1f} %", 100 * share);
}

double percent(std::int64_t part, std::int64_t all) {
  return all > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0.0;
}

void damage_row(const ViewFacts& facts) {
  key("damage");
  text("{:5.1f} %   {:>5} of {} tiles", percent(facts.step.damaged_tiles, facts.step.tiles), facts.step.damaged_tiles,
       facts.step.tiles);
  tooltip("Tiles of 16x16 pixels that this frame changed.");
}

// What the dump says; what the viewer does to show it is of no interest.
void recorded_rows(const ViewFacts& facts) {
  const RecordedFacts& dump = facts.look.dump;
  if (dump.damaged_tiles >= 0) damage_row(facts);
  key("patches");
  if (dump.changed >= 0) {
    text("{:>4}   {:5.1f} % changed: {}", dump.patches, percent(dump.changed, dump.patches), dump.changed);
  } else {
    text("{:>4}", dump.patches);
  }
  tooltip("Of this emission: what must be encoded again.");
  key("so far");
  if (dump.changed_so_far >= 0) {
    text("{:5.1f} % of {} patches changed", percent(dump.changed_so_far, dump.patches_so_far), dump.patches_so_far);
  } else {
    text("{} patches", dump.patches_so_far);
  }
  key("in all");
  if (dump.complete) {
    text("{} frames, {:.3f} s", dump.frames, dump.seconds);
    key("");
    text("{:5.1f} % of tiles, {:5.1f} % of bytes", 100 * dump.tile_share, 100 * dump.byte_share);
  } else {
    text_colored(kAlarm, "cut short: no manifest.json");
  }
}

void texture_rows(const ViewFacts& facts) {
  damage_row(facts);
  key("upload");
  text("rectangles {:<5} calls {}", facts.step.rectangles, facts.step.upload_calls);
  key("");
  text("{:7.1f} of {:.1f} KiB {:5.1f} %", static_cast<double>(facts.step.bytes_uploaded) / kKiB,
       static_cast<double>(facts.step.bytes_full) / kKiB, percent(facts.step.bytes_uploaded, facts.step.bytes_full));
  tooltip("Bytes sent to the texture for this frame, against all of it.");
  const PipelineCounters& run = facts.step.counters;
  key("so far");
  text("{:5.1f} % of tiles, {:5.1f} % of bytes", percent(run.damaged_tiles, run.tiles),
       percent(run.bytes_uploaded, run.bytes_full_upload));
  if (facts.device.software_gl || facts.offscreen) return;
  key("gpu ms");
  text("upload {:<6.2f} mips {:.2f}", facts.cost.gpu.upload_ms, facts.cost.gpu.mips_ms);
  key("");
  text("sample {:<6.2f} draw {:.2f}", facts.cost.gpu.sample_ms, facts.cost.gpu.draw_ms);
}

void patches_row(const ViewFacts& facts) {
  const PipelineCounters& run = facts.step.counters;
  key("patches");
  text("{:>4}   {:5.1f} % changed so far", facts.look.patches, percent(run.patches_changed, run.patches));
  tooltip(facts.look.lattice.c_str());
}

// Of lattice adaptive, whose patches are all new to the receiver.
void receiver_rows(const ViewFacts& facts) {
  const ReceiverFacts& receiver = facts.receiver;
  key("tokens");
  text("{:>4} in the last second, {} last look", receiver.tokens_last_s, receiver.tokens_last_look);
  tooltip("Sent in the last second of the video, and by the last look.");
  key("held");
  if (!receiver.psnr_db) {
    text("-");
  } else if (std::isinf(*receiver.psnr_db)) {
    text("as the frame, in luma");
  } else {
    text("{:5.1f} dB of luma", *receiver.psnr_db);
  }
  tooltip("PSNR of the receiver's picture after the last look, as a target is.");
}

// What a model would be sent.
void views_row(const ViewFacts& facts) {
  const auto& last = facts.views.last;
  key("views");
  if (last.empty()) {
    text("none; {} tokens so far", facts.views.tokens);
  } else {
    const int tokens = std::accumulate(last.begin(), last.end(), 0,
                                       [](int sum, const saccade::View& view) { return sum + view.tokens; });
    text("{}, {} tokens; {} so far", last.size(), tokens, facts.views.tokens);
  }
  tooltip("Pictures that the model would be sent by the last look, and their tokens as it counts them.");
}

void gaze_row(const ViewFacts& facts) {
  key("gaze");
  text("{:5.3f}, {:5.3f} fixation {:<4} {}", facts.look.gaze.u, facts.look.gaze.v, facts.look.gaze.fixation,
       facts.look.gaze.in_flight ? "in flight" : "");
  tooltip("Where the eye points: 0..1 of the frame, from its top left corner.");
}

}  // namespace

void FactsPanel::stage_table(const ViewFacts& facts) {
  const auto& stages = whole_run_ ? facts.cost.whole : facts.cost.recent;
  constexpr auto kFlags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings |
                          ImGuiTableFlags_NoPadOuterX;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {points(4), points(0.5f)});
  if (ImGui::BeginTable("stages", 5, kFlags)) {
    ImGui::TableSetupColumn("stage", ImGuiTableColumnFlags_WidthFixed, points(66));
    for (const char* column : {"p50", "p95", "p99"}) {
      ImGui::TableSetupColumn(column, ImGuiTableColumnFlags_WidthFixed, points(48));
    }
    ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_colored(kDim, "ms");
    for (const char* column : {"p50", "p95", "p99"}) {
      ImGui::TableNextColumn();
      text_right(kDim, "{}", column);
    }
    ImGui::TableNextColumn();
    if (facts.pace.budget_ms > 0) {
      text_right(kDim, "of {:.1f} ms", facts.pace.budget_ms);
    } else {
      text_right(kDim, "of budget");
    }
    tooltip("The stage's p99 against the time that one frame has, as in `saccade profile`.");
    // All of them from the first frame on, whichever were measured yet.
    const auto draw_row = [&](Stage stage) {
      const auto found =
          std::find_if(stages.begin(), stages.end(), [stage](const StageTimes& times) { return times.stage == stage; });
      stage_row(found != stages.end() ? *found : StageTimes{.stage = stage}, facts);
    };
    draw_row(Stage::kDecode);
    for (const Stage stage : facts.cost.stages) draw_row(stage);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
}

void FactsPanel::draw(ViewSettings& settings, const ViewFacts& facts, const Note& note) {
  source_rows(facts);
  pace_rows(facts);
  if (facts.look.recorded) {
    title("dump");
    recorded_rows(facts);
    gaze_row(facts);
    ImGui::Dummy({0, points(2)});
    return thumbnails_.draw(settings, facts, note);
  }
  ImGui::Dummy({0, points(2)});
  draw_frame_graph(facts);
  fmt::basic_memory_buffer<char, 64> recent;
  fmt::format_to(std::back_inserter(recent), "last {:.0f} s{}", facts.cost.recent_s, '\0');
  text_colored(kAccent, "stages");
  ImGui::SameLine(points(142));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {points(3), 0});
  if (ImGui::RadioButton(recent.data(), !whole_run_)) whole_run_ = false;
  ImGui::SameLine();
  if (ImGui::RadioButton("whole run", whole_run_)) whole_run_ = true;
  ImGui::PopStyleVar();
  stage_table(facts);
  title("texture");
  texture_rows(facts);
  facts.receiver.there ? receiver_rows(facts) : patches_row(facts);
  if (settings.boxes) views_row(facts);
  gaze_row(facts);
  ImGui::Dummy({0, points(2)});
  thumbnails_.draw(settings, facts, note);
}

}  // namespace saccade::ui
