// The viewer without its window: a frame goes through the pipeline, a view of it comes out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gl/context.h"
#include "gpu/gl/timer.h"
#include "pipeline/run/session.h"
#include "pipeline/source/frame/frame.h"
#include "ui/compare/comparison.h"
#include "ui/panel/overlay.h"
#include "ui/picture/frame_renderer.h"
#include "ui/picture/marks.h"
#include "ui/picture/recorded_look.h"
#include "ui/picture/tile_freshness.h"
#include "ui/picture/view_state.h"
#include "ui/receiver/receiver.h"
#include "ui/tuning/held_gaze.h"
#include "ui/viewer/canvas.h"
#include "ui/viewer/frame_numbers.h"
#include "ui/viewer/frame_rate.h"
#include "ui/viewer/imgui_layer.h"
#include "ui/viewer/recent_stages.h"

namespace saccade::ui {

// One thread, the GL context's. `settings`, `facts` and `requests` are there to be read and changed between calls.
class Viewer {
 public:
  // The context is current and outlives the viewer.
  Viewer(const gl::Context& context, const ViewSettings& settings, Surface surface, const Log& log);
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  // A new source: its facts, and a pipeline that knows nothing of the old one. Counters, times and graph begin again.
  // Frames of the old one must be gone.
  void attach(OpenedFeed opened);
  Feed* feed() { return session_ ? &session_->feed() : nullptr; }  // null before attach()

  // Takes a frame of feed() through the pipeline and keeps it; gives the one before back to the feed. sought: it
  // doesn't follow the one before, so everything is new.
  void show(Frame frame, bool sought);

  // A frame of feed() that came too late to be shown.
  void drop(Frame frame);

  // The next frame does not follow the last one in time: pause, seek, the end.
  void interrupt_pace();

  // Settings changed while no frame comes: takes the frame kept through the pipeline again where that is needed.
  void refresh();

  // Draws view, marks and panel into the bound framebuffer. scale: pixels a point.
  void draw(int width_px, int height_px, float scale);
  // The panel takes the input that came, as in draw(), and nothing is drawn.
  void digest(int width_px, int height_px, float scale);
  // As draw(), into a framebuffer of its own, which stays bound.
  Picture picture(int width_px, int height_px, float scale);

  // Times that change between frames; now_ns by steady_now_ns().
  void refresh_times(std::int64_t now_ns);

  // The eye goes to this place of the picture, 0..1, and stays.
  void fixate(float u, float v);
  void unfixate();        // the last fixate() was none
  void free_gaze();       // and the policy of before returns
  void reset_settings();  // to those it began with: see ui/tuning/settings_edits.h
  // The pipeline's settings are others than at the beginning and than note_saved() saw. Where a click holds the eye
  // does not count.
  bool has_unsaved_settings() const;
  void note_saved() { saved_ = tuned(); }

  bool has_frame() const { return static_cast<bool>(frame_); }
  const FrameView& frame() const { return frame_.view(); }
  PictureSize picture_size() const;
  // The part of the window where the picture under this place was drawn last; view `compare` has three. None there: the
  // first one.
  PixelBox picture_area(float x, float y) const;
  ImguiLayer& imgui() { return imgui_; }
  const Overlay& overlay() const { return overlay_; }
  const LiveMeter* live() const { return session_ ? &session_->live() : nullptr; }

  ViewSettings settings;
  ViewFacts facts;
  ViewRequests requests;

 private:
  PipelineConfig wanted_config() const;
  PipelineConfig tuned() const;
  void lay_out(int width_px, int height_px, float scale);
  bool configure();
  enum class Step : std::uint8_t { kNewFrame, kSought, kAgain };
  void step(Step step);
  void run_pipeline(Step step);
  void forget_source();
  void forget_frame();
  void forget_gaze();
  void note_number(const FrameView& view, bool sought);
  void note_step(const StepResult& result, Step step);
  void note_upload(const StepResult& result);
  void note_look(const Gaze& gaze);
  void note_sent(bool looked);
  void note_recorded();
  void note_trail(const Gaze& gaze);
  void compare();
  void show_receiver();
  void choose_views(bool looked);
  void leave_missing_view();
  bool adaptive() const { return lattice_kind(settings.pipeline.lattice) == LatticeKind::kAdaptive; }
  void note_times(std::int64_t decode_ns, std::int64_t step_ns);
  Scene scene() const;
  // One picture of those that are drawn: what of, in which part of the window.
  struct Pane {
    PixelBox area;
    View view = View::kFrame;
    const PatchPainter* patches = nullptr;
    const PatchPlan* plan = nullptr;  // of its outlines
  };
  void lay_panes(const PixelBox& area, float scale);
  void note_draw(std::int64_t begin_ns);
  void draw_pane(const Pane& pane, const Scene& shown, int width_px, int height_px);

  const gl::Context& context_;
  ImguiLayer imgui_;
  FrameRenderer renderer_;
  TileFreshness freshness_;
  PatchPainter painter_;
  Receiver receiver_;
  Comparison comparison_;
  std::vector<Pane> panes_;
  Overlay overlay_;
  gl::Timer draw_timer_;
  const Log log_;
  std::unique_ptr<Session> session_;          // its pipeline works in context_
  std::shared_ptr<const RecordedLook> look_;  // of a dump
  const ViewSettings initial_;
  PipelineConfig applied_;  // what the pipeline runs
  PipelineConfig good_;     // what it has run with success
  PipelineConfig saved_;    // what the person has, in a file or by starting again
  HeldGaze held_gaze_;
  Emission emission_;
  PatchPlan outline_plan_;
  struct SentTokens {
    std::int64_t pts_ns;
    int count;
  };
  std::deque<SentTokens> sent_;        // in the last second
  std::optional<ViewsChoice> chosen_;  // of facts.views; none: they are not shown
  Frame frame_;                        // of the session's feed, and so before it in going
  std::array<double, kStageCount> total_ms_{};
  RecentStages recent_;
  DurationHistogram decode_times_;
  std::int64_t shown_at_ns_ = 0, summarized_at_ns_ = 0;
  FrameRate rate_, source_rate_;  // of the frames shown; of the stream, by its times
  FrameNumbers numbers_;
  std::int64_t last_sequence_ = -1;  // FrameView::sequence of the frame that came last
};

}  // namespace saccade::ui
