// What the viewer's parts tell each other: what a person can tune, what is true of the frame that is drawn, and what
// the overlay asks for. Plain data; all of it lives and changes on the main thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/damage.h"
#include "kernels/patch_plan.h"
#include "kernels/shared/fovea.h"
#include "kernels/texture.h"
#include "pipeline/run/pipeline.h"
#include "pipeline/run/stats.h"
#include "pipeline/source/frame/stream_info.h"
#include "pipeline/views/view.h"
#include "pipeline/views/views_choice.h"
#include "ui/picture/view.h"

namespace saccade {
class DrawableTexture;
}

namespace saccade::ui {

// Everything a person can tune.
struct ViewSettings {
  View view = View::kFrame;
  int level = 0;                                // of view `level`
  float split = 0.5f;                           // of view `split`: share of the picture's width left of the seam
  LatticeKind compare = LatticeKind::kUniform;  // of view `compare`: the other lattice
  float zoom = 1.0f;                            // 1: the whole picture fits the window
  // What lies in the window's middle, away from the picture's middle; in its widths and heights.
  float pan_x = 0, pan_y = 0;
  bool linear = true;                            // how the picture is enlarged: linear or nearest
  bool overlay = true;                           // the panels and the bar
  bool facts_open = true, settings_open = true;  // of the panels: false folds one to its title
  bool marks = true;                             // fixation and saccade trail
  bool outlines = false;                         // of the plan's patches
  bool scanpath = false;                         // past fixations with their numbers
  bool boxes = false;                            // of the views that a model would be sent
  ViewsChoice views;                             // which these are
  bool help = false;                             // the list of keys
  double speed = 1.0;                            // of the video's time against the clock
  bool paused = false;
  bool loop = false;
  bool vsync = true;
  bool fullscreen = false;
  PipelineConfig pipeline;  // what dump runs: takes effect on the next frame
};

// Is there such a view of what is shown? recorded: of a dump.
inline bool has_view(View view, const PipelineConfig& config, bool recorded) {
  if (recorded) return !needs_video(view);
  return !needs_adaptive(view) || lattice_kind(config.lattice) == LatticeKind::kAdaptive;
}

// One place the eye rested at.
struct Fixation {
  std::int64_t number = 0;
  std::int64_t pts_ns = 0;  // of the frame on which it landed
  float u = 0, v = 0;       // 0..1 of the displayed frame, origin top-left
};

// Where the eye was at one frame.
struct GazeSample {
  std::int64_t pts_ns = 0;
  float u = 0, v = 0;
  bool in_flight = false;
};

// p50, p95, p99 and how many, of one stage.
struct StageTimes {
  Stage stage = Stage::kFrame;
  double p50_ms = 0, p95_ms = 0, p99_ms = 0;
  std::int64_t count = 0;
};

// The latest values, oldest first from `next` on.
template <std::size_t kSize>
struct Ring {
  std::array<float, kSize> values{};
  std::size_t next = 0;   // where the coming value goes: the oldest one
  std::size_t count = 0;  // how many are filled, up to kSize
  void push(float value) {
    values[next] = value;
    next = (next + 1) % kSize;
    if (count < kSize) ++count;
  }
  // i: 0 (oldest) .. count - 1 (newest).
  float at(std::size_t i) const { return values[(next + kSize - count + i) % kSize]; }
};

// Times on the GPU, frames old; 0 until there is one (a software renderer has none).
struct GpuTimes {
  double upload_ms = 0, mips_ms = 0, sample_ms = 0, draw_ms = 0;
};

// Who decodes, keeps the texture, and draws.
struct DeviceFacts {
  std::string decoder;   // the one really used
  std::string backend;   // "gl", "cpu", "cuda"
  std::string renderer;  // of OpenGL: "llvmpipe ..."
  bool software_gl = false;
  int most_texture_px = 16384;  // of OpenGL, along a side
};

// Where in the stream the frame shown lies.
struct TimeFacts {
  std::int64_t frame = -1;  // number of the frame shown, from 0, by its time; -1: none yet
  std::int64_t pts_ns = 0;  // of the frame shown
  std::int64_t start_pts_ns = 0;
  std::int64_t duration_ns = 0;  // 0: unknown (live)
  bool seekable = false;
  bool ended = false;  // the last frame is shown
};

// How fast frames come and go.
struct PaceFacts {
  double fps_shown = 0;   // frames of video a second, now; 0 while paused and at the end
  double fps_source = 0;  // the stream's own, or by its frames' times; 0: not known yet
  double budget_ms = 0;   // the time one frame has: 1000 / fps_source / speed, 0 unknown
  Ring<240> frame_ms;     // from one shown frame to the next
  Ring<240> work_ms;      // of the main thread for one frame: pipeline and drawing
  std::size_t queue_depth = 0, queue_capacity = 0;
  std::int64_t dropped_late = 0;   // decoded, but their time had passed
  std::int64_t dropped_queue = 0;  // live: pushed out of the queue by newer ones
  std::int64_t frames_corrupt = 0;
  // A live source's frames, from their capture until they were through the pipeline; 0: none yet
  double age_p50_ms = 0, age_p95_ms = 0, age_p99_ms = 0;
  std::int64_t gaps = 0;  // how often it was interrupted
};

// What the stages cost, decoding and drawing among them.
struct CostFacts {
  std::vector<StageTimes> recent, whole;  // of the last seconds, and of the whole run
  std::span<const Stage> stages;          // those of the pipeline, measured or not
  double recent_s = 5;                    // what "recent" spans
  double draw_ms = 0;                     // issuing the drawing, CPU time, of the last frame
  GpuTimes gpu;
};

// The pipeline's last step.
struct StepFacts {
  const Damage* damage = nullptr;
  int tiles = 0, damaged_tiles = 0;
  int rectangles = 0;  // that the upload took
  int upload_calls = 0;
  std::int64_t bytes_uploaded = 0;  // of this frame
  std::int64_t bytes_full = 0;      // a whole frame
  PipelineCounters counters;        // of the run
};

// What a dump holds, in numbers: of the emission that is shown, up to it, and of the whole run.
struct RecordedFacts {
  std::string input;  // what was dumped
  std::int64_t emission = 0, emissions = 0;
  std::int64_t video_frame = 0;     // of which the emission is
  int damaged_tiles = -1;           // of that frame; -1: not known
  std::int64_t patches = 0;         // of the emission
  std::int64_t changed = -1;        // of these; -1: not known
  std::int64_t patches_so_far = 0;  // of all emissions up to this one
  std::int64_t changed_so_far = -1;
  bool complete = false;  // the run ended as it should: what follows is known
  std::int64_t frames = 0;
  double seconds = 0, tile_share = 0, byte_share = 0;  // of the video; damaged and uploaded, of all
};

// Of lattice adaptive: what its receiver was sent and has.
struct ReceiverFacts {
  bool there = false;
  int tokens_last_look = 0;
  std::int64_t tokens_last_s = 0;  // in the last second of the video
  std::optional<double> psnr_db;   // of luma, of what is held after the last look; infinite: no error
};

// The views that a model would be sent, from when `boxes` was switched on, or the choice changed.
struct ViewsFacts {
  std::vector<saccade::View> last;      // by the last look
  std::int64_t images = 0, tokens = 0;  // of all looks
};

// Where the eye is and was, and what it sees with.
struct LookFacts {
  Gaze gaze;
  std::deque<GazeSample> trail;                // the last second or so, oldest first
  std::deque<Fixation> fixations;              // the last 64 landings, oldest first
  const PatchPlan* plan = nullptr;             // around the present gaze; of adaptive the last look's
  const shared::FoveaParams* fovea = nullptr;  // with the solved e0
  float coarsest_lod = 0;                      // of the patches, wherever the eye is
  int patches = 0;                             // N
  double solved_e0 = 0, solved_m0 = 0;
  std::string lattice;    // Lattice::describe()
  bool recorded = false;  // a dump is shown: all this is what it holds, and nothing can be tuned
  RecordedFacts dump;     // where one is
};

// What is true now. Pointers are borrowed, valid while the overlay draws this frame, and null before the first frame.
struct ViewFacts {
  bool offscreen = false;  // pictures must not depend on the machine: show no measured times, draw dashes instead
  bool served = false;     // a page shows it, and has a bar of its own
  const StreamInfo* stream = nullptr;
  int source_number = 0;            // of sources shown so far
  std::int64_t pictures_drawn = 0;  // for the screen: none while nobody can see them
  std::string error;                // the stream broke: the line that says how; empty otherwise
  std::string damage;               // what did not come or not decode, counted: at the end, and when the viewer quits
  std::string state;                // what is waited for: "opening clip.mp4 ...", "lost, try 2 of 5"; empty: nothing
  std::string message;              // for the person, shown for a moment: "saved ..."
  std::string note;                 // what a key has just done, shown for a shorter moment
  int notes = 0;                    // how many there were: the same may come again
  std::string save_exists;          // a file that `save` found: may it be replaced?
  bool asks_to_quit = false;        // settings would be lost: is that right?
  DeviceFacts device;
  TimeFacts time;
  PaceFacts pace;
  CostFacts cost;
  StepFacts step;
  LookFacts look;
  ReceiverFacts receiver;
  ViewsFacts views;
  const DrawableTexture* pyramid = nullptr;  // its textures: thumbnails
  ColorSpec color;                           // of the frame shown
  double sar = 1.0;
};

// What the overlay asks for; the viewer does it after the frame and clears it.
struct ViewRequests {
  std::optional<std::int64_t> seek_pts_ns;  // absolute, in the stream's own time; exact
  std::optional<double> seek_by_s;
  std::optional<bool> scrubbing;             // the seek bar is held, or let go: meanwhile it doesn't play
  int step = 0;                              // pause, and show the frame so many after this one; below 0: before
  bool configure = false;                    // settings.pipeline was changed
  bool reset_settings = false;               // settings were reset: the eye is free again
  std::optional<std::string> save_settings;  // as TOML, to this path
  bool replace = false;                      // `save_settings` may replace a file
  bool keep_file = false;                    // ViewFacts::save_exists is answered: no
  bool screenshot = false;
  bool quit = false;
  bool stay = false;  // ViewFacts::asks_to_quit is answered: no
};

}  // namespace saccade::ui
