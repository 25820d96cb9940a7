#include "ui/viewer/viewer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "pipeline/backend/backend.h"
#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "ui/compare/columns.h"
#include "ui/tuning/settings_edits.h"
#include "ui/tuning/words.h"

namespace saccade::ui {
namespace {

constexpr float kCaptionPoints = 22;
constexpr std::int64_t kSummarize_ns = 250'000'000;
constexpr int kMostLayouts = 4;

double to_ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

bool same(const PipelineConfig& a, const PipelineConfig& b) {
  return same_tuning(a, b) && a.emit.kind == b.emit.kind && a.emit.every_frames == b.emit.every_frames;
}

// What draws in place of one whose textures can't be drawn.
Backend drawn_by(Backend backend) { return traits(backend).draws ? backend : first_that(&BackendTraits::draws); }

}  // namespace

Viewer::Viewer(const gl::Context& context, const ViewSettings& initial, Surface surface, const Log& log)
    : settings(initial),
      context_(context),
      imgui_(surface),
      overlay_(initial),
      draw_timer_(gl::Timer::of_hardware(context.capabilities())),
      log_(log),
      initial_(initial),
      saved_(initial.pipeline),
      held_gaze_(initial.pipeline.scanpath) {
  facts.offscreen = surface == Surface::kPictures;
  facts.served = surface == Surface::kPage;
  facts.device.backend = name(drawn_by(initial.pipeline.backend));
  facts.device.renderer = context.capabilities().renderer;
  facts.device.software_gl = context.capabilities().software;
  facts.device.most_texture_px = context.capabilities().max_texture_size;
}

Viewer::~Viewer() = default;

void Viewer::attach(OpenedFeed opened) {
  std::unique_ptr<Feed> feed = std::move(opened.feed);
  const StreamInfo& info = feed->info();
  forget_source();
  look_ = std::move(opened.look);
  facts.look.recorded = look_ != nullptr;
  facts.stream = &info;
  facts.device.decoder = decoder_text(info);
  facts.pace.fps_source = info.fps;
  facts.time.start_pts_ns = feed->start_pts_ns();
  facts.time.seekable = feed->seekable();
  facts.time.duration_ns = feed->duration_ns();
  if (feed->seekable()) numbers_.begin(feed->start_pts_ns(), info.fps);
  applied_ = good_ = wanted_config();
  if (session_) {
    session_->reopen(std::move(feed), good_);
    return;
  }
  SessionConfig config;
  config.pipeline = good_;
  config.threshold_given = true;  // the panel's
  config.gl = &context_;
  config.log = log_;
  session_ = std::make_unique<Session>(config, std::move(feed));
}

void Viewer::forget_source() {
  facts.time = {};
  facts.pace = {};
  facts.cost = {};
  facts.step = {};
  facts.look = {};
  facts.receiver = {};
  facts.views = {};
  chosen_.reset();
  sent_.clear();
  facts.error.clear();
  ++facts.source_number;
  forget_frame();
  frame_ = Frame{};
  recent_ = {};
  decode_times_ = {};
  summarized_at_ns_ = 0;
  rate_.reset();
  source_rate_.reset();
  shown_at_ns_ = 0;
  numbers_ = {};
  last_sequence_ = -1;
}

// The pipeline is to go, and what the facts point to with it.
void Viewer::forget_frame() {
  facts.pyramid = nullptr;
  facts.step.damage = nullptr;
  facts.look.plan = nullptr;
  facts.look.fovea = nullptr;
  emission_ = Emission{};
  total_ms_ = {};
}

void Viewer::forget_gaze() {
  facts.look.trail.clear();
  facts.look.fixations.clear();
}

// What the pipeline runs: the person's settings, with samples that can be painted, made when a view needs them.
PipelineConfig Viewer::wanted_config() const {
  PipelineConfig config = settings.pipeline;
  config.backend = drawn_by(config.backend);
  config.measure_device = config.backend == Backend::kCuda;
  config.calibrate = !facts.offscreen;  // pictures show what was uploaded: the same in every run
  config.samples = SampleFormat{};
  config.measure_held = true;
  const bool paints = settings.view == View::kPatches || settings.view == View::kCompare;
  const bool each_frame = paints && !adaptive();  // whose looks are what is shown
  config.emit = {each_frame ? EmitPolicy::Kind::kFrames : EmitPolicy::Kind::kFixation, 1};
  if (look_) {  // everything is known but the levels
    config.diff = {};
    config.lattice.shape = UniformShape{.patches = 1, .lod = {}, .acuity = {}};
    config.scanpath = {};
    config.scanpath.policy = FixationPolicy::kCenter;
  }
  return config;
}

// True: something changed. Settings that can't be are taken back, and the person is told why.
bool Viewer::configure() {
  const PipelineConfig wanted = wanted_config();
  if (same(wanted, applied_)) return false;
  try {
    session_->configure(wanted);
    if (lattice_kind(wanted.lattice) != lattice_kind(applied_.lattice)) {
      emission_ = Emission{};
      if (adaptive()) session_->reset();  // the receiver begins now
    }
    applied_ = wanted;
    return true;
  } catch (const Error& error) {
    facts.message = in_panel_words(error.fault());
    settings.pipeline = applied_;
    return false;
  }
}

void Viewer::show(Frame frame, bool sought) {
  Frame before = std::exchange(frame_, std::move(frame));
  leave_missing_view();
  configure();
  note_number(frame_.view(), sought);
  if (sought) {
    session_->reset();
    sent_.clear();
    facts.views.last.clear();
    forget_gaze();
    interrupt_pace();
  }
  step(sought ? Step::kSought : Step::kNewFrame);
  if (before) session_->feed().recycle(std::move(before));
}

void Viewer::drop(Frame frame) {
  note_number(frame.view(), false);
  ++facts.pace.dropped_late;
  session_->feed().recycle(std::move(frame));
}

void Viewer::note_number(const FrameView& view, bool sought) {
  const bool follows = !sought && view.sequence == last_sequence_ + 1;
  numbers_.note(view.pts_ns, follows);
  last_sequence_ = view.sequence;
  if (!follows) source_rate_.reset();
  source_rate_.note(view.pts_ns);
  if (session_->feed().info().fps > 0) return;
  if (const double measured = source_rate_.per_s(view.pts_ns); measured > 0) facts.pace.fps_source = measured;
}

void Viewer::interrupt_pace() {
  shown_at_ns_ = 0;
  rate_.reset();
  facts.pace.fps_shown = 0;
}

void Viewer::refresh() {
  if (!frame_) return;
  leave_missing_view();
  if (configure()) return step(Step::kAgain);
  choose_views(false);
  if (settings.view == View::kCompare && !look_) compare();
  show_receiver();
}

void Viewer::leave_missing_view() {
  if (has_view(settings.view, settings.pipeline, look_ != nullptr)) return;
  const char* const why = look_ ? "a dump holds no more than its patches" : "only lattice adaptive keeps a receiver";
  facts.message = fmt::format("{}: there is no view \"{}\" of it", why, in_words(settings.view));
  settings.view = View::kFrame;
}

// Some settings only show with a frame that they are impossible (too many levels for the largest texture):
// back to what worked.
void Viewer::step(Step step) {
  try {
    run_pipeline(step);
  } catch (const Error& error) {
    if (same(applied_, good_)) {
      facts.pyramid = nullptr;
      throw;
    }
    facts.message = in_panel_words(error.fault());
    settings.pipeline = applied_ = good_;
    forget_frame();
    session_->rebuild(good_);
    run_pipeline(step);
  }
  good_ = applied_;
}

void Viewer::run_pipeline(Step step) {
  const std::int64_t begin_ns = steady_now_ns();
  StepResult result;
  if (step == Step::kAgain) {
    result = session_->step_again(frame_, emission_);
  } else {
    const SessionStep done = session_->step(frame_, emission_);
    if (done.after_gap) forget_gaze();
    result = done.result;
  }
  note_step(result, step);
  freshness_.note(session_->pipeline().damage(), frame_.view().pts_ns);
  freshness_.upload();
  if (result.emitted) painter_.set(emission_.plan, emission_.batch);
  note_sent(result.emitted);
  choose_views(result.gaze.landed && step != Step::kAgain);
  if (settings.view == View::kCompare && !look_) compare();
  show_receiver();
  const std::int64_t end_ns = steady_now_ns();
  if (facts.offscreen || step == Step::kAgain) return;
  // On its way to a frame that was sought, the decoder has decoded others.
  note_times(step == Step::kNewFrame ? session_->feed().last_decode_ns() : 0, end_ns - begin_ns);
}

// The same frame again changes what was made of it, not what it changed itself.
void Viewer::note_step(const StepResult& result, Step step) {
  const FrameView& view = frame_.view();
  const Pipeline& pipeline = session_->pipeline();
  const DrawableTexture* texture = pipeline.drawable();
  if (texture == nullptr) {
    throw UnavailableError(fmt::format("backend {} has no textures to draw from", name(pipeline.config().backend)),
                           Hint::kGlBackend);
  }
  facts.cost.stages = pipeline.stages();
  facts.time.frame = facts.time.seekable ? numbers_.number(view.pts_ns) : view.sequence;
  facts.time.pts_ns = view.pts_ns;
  facts.color = view.color;
  facts.sar = static_cast<double>(view.sar);
  facts.pyramid = texture;
  facts.step.damage = &pipeline.damage();
  if (step != Step::kAgain) note_upload(result);
  if (look_) {
    note_recorded();
  } else {
    note_look(result.gaze);
  }
}

void Viewer::note_upload(const StepResult& result) {
  facts.step.tiles = facts.step.damage->grid().count();
  facts.step.damaged_tiles = result.damaged_tiles;
  facts.step.rectangles = static_cast<int>(facts.pyramid->last_upload().rects.size());
  facts.step.upload_calls = facts.pyramid->last_upload().calls;
  facts.step.bytes_uploaded = result.bytes_uploaded;
  facts.step.bytes_full = facts.pyramid->layout().level0_bytes();
  facts.step.counters = session_->pipeline().counters();
}

void Viewer::note_times(std::int64_t decode_ns, std::int64_t step_ns) {
  const std::int64_t now = steady_now_ns();
  if (shown_at_ns_ != 0) facts.pace.frame_ms.push(static_cast<float>(to_ms(now - shown_at_ns_)));
  shown_at_ns_ = now;
  rate_.note(now);
  if (decode_ns > 0) {
    recent_.note(Stage::kDecode, to_ms(decode_ns), now);
    decode_times_.record(decode_ns);
  }
  for (const Stage stage : session_->pipeline().stages()) {
    const auto i = static_cast<std::size_t>(stage);
    const double total_ms = session_->pipeline().stage(stage).total_ms();
    if (total_ms > total_ms_[i]) recent_.note(stage, total_ms - total_ms_[i], now);
    total_ms_[i] = total_ms;
  }
  facts.pace.work_ms.push(static_cast<float>(to_ms(step_ns) + facts.cost.draw_ms));
  refresh_times(now);
}

void Viewer::refresh_times(std::int64_t now) {
  facts.pace.budget_ms = facts.pace.fps_source > 0 ? 1000.0 / facts.pace.fps_source / settings.speed : 0;
  if (!frame_ || now - summarized_at_ns_ < kSummarize_ns) return;
  summarized_at_ns_ = now;
  facts.pace.fps_shown = rate_.per_s(now);
  // Those before a pause stay. A first frame that is paused has its own.
  if (facts.pace.fps_shown > 0 || facts.cost.recent.empty()) recent_.summarize(now, facts.cost.recent);
  facts.cost.whole.clear();
  facts.cost.whole.push_back(summarize(Stage::kDecode, decode_times_));
  for (const Stage stage : session_->pipeline().stages())
    facts.cost.whole.push_back(summarize(stage, session_->pipeline().stage(stage)));
}

PictureSize Viewer::picture_size() const {
  if (!frame_) return {};
  return {frame_.view().width_px, frame_.view().height_px, static_cast<double>(frame_.view().sar)};
}

Scene Viewer::scene() const {
  Scene scene;
  if (!frame_ || facts.pyramid == nullptr) return scene;
  scene.pyramid = facts.pyramid;
  scene.color = facts.color;
  scene.size = picture_size();
  scene.fovea = *facts.look.fovea;
  scene.coarsest_lod = facts.look.coarsest_lod;
  scene.fix_x_px = facts.look.gaze.u * static_cast<float>(scene.size.width_px);
  scene.fix_y_px = facts.look.gaze.v * static_cast<float>(scene.size.height_px);
  scene.tiles = settings.view == View::kDamage ? &freshness_.texture() : &receiver_.tiles();
  scene.patches = &painter_;
  return scene;
}

// view `compare`: the frame, its patches, and the other lattice's; else one picture.
void Viewer::lay_panes(const PixelBox& area, float scale) {
  panes_.assign(1, {area, settings.view, &painter_, facts.look.plan});
  if (settings.view != View::kCompare || !frame_) return;
  const int caption_px = static_cast<int>(std::lround(kCaptionPoints * scale));
  const bool holds = facts.receiver.there;
  const Columns columns = lay_columns(picture_size(), area, caption_px, caption_px / 4);
  panes_.assign({{columns.pictures[0], View::kFrame, nullptr, nullptr},
                 {columns.pictures[1], holds ? View::kHeld : View::kPatches, &painter_, facts.look.plan},
                 {columns.pictures[2], View::kPatches, comparison_.painter(), comparison_.plan()}});
  const int size = applied_.lattice.patch_size;
  const int all = ((picture_size().width_px + size - 1) / size) * ((picture_size().height_px + size - 1) / size);
  draw_caption(fmt::format("the frame: {} patches", all), columns.captions[0]);
  const char* const shown = holds ? in_words(View::kHeld) : in_words(lattice_kind(applied_.lattice));
  draw_caption(fmt::format("{}: {} patches{}", shown, facts.look.patches, holds ? " a look" : ""), columns.captions[1]);
  draw_caption(comparison_.words(), columns.captions[2]);
}

void Viewer::draw_pane(const Pane& pane, const Scene& shown, int width_px, int height_px) {
  const PixelRects visible = uncovered(pane.area, overlay_.covered());
  const PictureMapping mapping = map_picture(shown.size, settings, pane.area);
  Scene scene = shown;
  scene.patches = pane.patches;
  if (pane.view == View::kHeld) scene.held = receiver_.picture();
  renderer_.draw(scene, settings, pane.view, mapping, width_px, height_px, visible.span());
}

PixelBox Viewer::picture_area(float x, float y) const {
  const int column = static_cast<int>(x), row = static_cast<int>(y);
  for (const Pane& pane : panes_) {
    const PixelBox& area = pane.area;
    if (column >= area.left && column < area.right && row >= area.top && row < area.bottom) return area;
  }
  return panes_.empty() ? PixelBox{} : panes_.front().area;
}

void Viewer::draw(int width_px, int height_px, float scale) {
  const std::int64_t begin_ns = steady_now_ns();
  draw_timer_.begin();
  // The panel first, because what it hides is not drawn.
  const std::array<std::string_view, 6> texts{facts.stream != nullptr ? facts.stream->uri : std::string_view(),
                                              facts.error,
                                              facts.state,
                                              facts.message,
                                              facts.note,
                                              facts.save_exists};
  imgui_.need(texts);
  lay_out(width_px, height_px, scale);
  const Scene shown = scene();
  lay_panes(overlay_.picture_area(), scale);
  for (const Pane& pane : panes_) {
    draw_marks(settings, facts, shown, pane.plan, map_picture(shown.size, settings, pane.area), pane.area, scale);
  }
  renderer_.clear(width_px, height_px);
  for (const Pane& pane : panes_) draw_pane(pane, shown, width_px, height_px);
  imgui_.end();
  draw_timer_.end();
  note_draw(begin_ns);
}

// Panels are as tall as what the frame before drew into them: they are laid out until that is what they hold.
void Viewer::lay_out(int width_px, int height_px, float scale) {
  for (int i = 1;; ++i) {
    imgui_.begin(width_px, height_px, scale);
    overlay_.draw(settings, facts, requests);
    if (overlay_.settled() || i == kMostLayouts) return;
    imgui_.drop();
  }
}

void Viewer::digest(int width_px, int height_px, float scale) {
  imgui_.begin(width_px, height_px, scale);
  overlay_.draw(settings, facts, requests);
  imgui_.drop();
}

void Viewer::note_draw(std::int64_t begin_ns) {
  if (facts.offscreen) return;
  facts.cost.draw_ms = to_ms(steady_now_ns() - begin_ns);
  if (const auto ns = draw_timer_.poll_ns()) facts.cost.gpu.draw_ms = to_ms(*ns);
  if (facts.pyramid != nullptr) {
    const GlTimes& times = facts.pyramid->times();
    facts.cost.gpu = {times.upload_ms, times.mips_ms, times.sample_ms, facts.cost.gpu.draw_ms};
  }
}

Picture Viewer::picture(int width_px, int height_px, float scale) {
  const Canvas canvas(width_px, height_px);
  canvas.bind();
  draw(width_px, height_px, scale);
  return canvas.read();
}

}  // namespace saccade::ui
