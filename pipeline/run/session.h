// A run: source, queue, decode thread, pipeline and live meter behind next(). Gaps, resets, drops, the end and
// interrupts are its business; what is done with emissions is the caller's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/log.h"
#include "pipeline/run/feed.h"
#include "pipeline/run/live_meter.h"
#include "pipeline/run/pipeline.h"
#include "pipeline/views/views_choice.h"

namespace saccade {

struct SessionConfig {
  SourceConfig source;  // its `stop`, where there is one, also ends opening
  PipelineConfig pipeline;
  std::optional<QueuePolicy> policy;  // see FeedConfig
  std::size_t frames_ahead = 4;       // likewise
  std::function<void()> on_ready;     // likewise
  // False: a live source has a threshold of its own. It has sensor noise, so differences up to 8 codes are none
  // (docs/NOISE.md), and the texture stays that close to the frame.
  bool threshold_given = false;
  const gl::Context* gl = nullptr;  // the caller's, current on the calling thread; null: a backend makes its own
  TraceWriter* trace = nullptr;     // borrowed; null: none
  Log log;                          // of the source, the decode thread and the backend
};

enum class SessionStatus : std::uint8_t {
  kEmission,     // a frame went through, and `out` was filled
  kFrame,        // a frame went through
  kLater,        // poll(): the decoder has no frame ready
  kEnd,          // the stream's end
  kFailed,       // the stream broke: facts().fault. What came before it holds
  kInterrupted,  // interrupt() was called
};

// What one frame came to. Without a frame (kLater and what follows it) only `status` says something.
struct SessionStep {
  SessionStatus status = SessionStatus::kEnd;
  StepResult result;
  std::int64_t frame = 0;  // FrameView::sequence
  std::int64_t pts_ns = 0;
  FrameOrigin origin;      // of a live frame
  bool after_gap = false;  // the stream was interrupted before this frame: everything counted as damaged
};

// A live stream was interrupted.
struct StreamGap {
  std::int64_t emission = 0;  // the first one after it, also where it is none yet
  std::int64_t frame = 0;     // likewise
  std::int64_t pts_ns = 0;    // of that frame
  double length_s = 0;        // since the last frame before
};

// What a run came to, as plain copies. Complete after the end or stop(); before it, the source's counters and the
// decode times are empty.
struct SessionFacts {
  StreamInfo info;
  SourceCounters source;
  StreamEnd end;
  Fault fault;  // how the stream broke; `what` is empty: it did not
  QueuePolicy policy = QueuePolicy::kBlock;
  std::size_t queue_capacity = 0;
  QueueCounters queue;
  Backend backend{};
  PipelineCounters pipeline;
  std::size_t patches = 0;                             // N; 0 before start()
  std::vector<Stage> stages;                           // that ran: decode, wait, then the pipeline's, in order
  std::array<DurationHistogram, kStageCount> times;    // by Stage
  std::array<DurationHistogram, kDeviceWorks> device;  // by DeviceTime::Work
  LiveMeter live;
  std::vector<StreamGap> gaps;  // the first 1000
  double media_s = 0;           // from the first frame's time to the last one's

  // The input was not whole: what decoded was kept.
  bool damaged() const {
    const bool broke = !fault.what.empty() && !is_of_machine(fault.kind);
    return !source.damage().empty() || source.truncated || broke;
  }
  // A decoder made something up.
  bool mended() const { return !source.damage().empty(); }
  // Where it was the GPU's and had a past, pixels may be another video's: keep_decoders().
  bool may_show_another() const {
    return source.decoder_used && (source.decoder_erred || mended() || source.truncated || !fault.what.empty());
  }
  DurationHistogram& time(Stage stage) { return times[static_cast<std::size_t>(stage)]; }
  const DurationHistogram& time(Stage stage) const { return times[static_cast<std::size_t>(stage)]; }
};

// One thread calls, but for interrupt(). Any number of sessions live side by side, on any threads, and are made and
// destroyed in any order.
class Session {
 public:
  // Opens the source and starts decoding. Throws Error. While it opens, config.source.stop interrupts it.
  explicit Session(const SessionConfig& config);
  // With a source or a feed that is open; with a feed, policy and frames_ahead are its own.
  Session(const SessionConfig& config, std::unique_ptr<FrameSource> source);
  Session(const SessionConfig& config, std::unique_ptr<Feed> feed);
  ~Session();  // ends promptly, also while the source waits for a network
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Waits for the first frame and prepares the pipeline for it: sizes, lattice and N are known then. next() does it by
  // itself. Throws InputError when there is no frame, UnavailableError, UsageError; Error of kInterrupted.
  void start();

  // An emission with room for N patches. After start().
  Emission make_emission() { return pipeline_->make_emission(); }

  // Waits for a frame and takes it through the pipeline. Throws as start() and Pipeline::step(); a stream that breaks
  // after its first frame throws nothing: kFailed. into: see Pipeline::step().
  SessionStep next(Emission& out, const PatchTarget* into = nullptr);
  SessionStep poll(Emission& out);  // as next(), without waiting: kLater

  // For a caller that paces frames itself: a frame of feed(), which the caller keeps, goes through the pipeline.
  SessionStep step(const Frame& frame, Emission& out, const PatchTarget* into = nullptr);
  // For frames that no source gives (pipeline/source/push): prepares the pipeline for frames like this one.
  void start(const FrameView& like);
  // Takes one; see Pipeline::advance(). kEmission: one is due, and emit() gives it.
  SessionStep push(const FrameView& frame, bool to_device);
  void emit(Emission& out, const PatchTarget* into) { pipeline_->emit(out, into); }
  // The same frame once more, after configure(): neither its age nor a gap counts again.
  StepResult step_again(const Frame& frame, Emission& out) { return pipeline_->step(frame.view(), out, nullptr, true); }

  // The next fixation is here, 0..1 of the displayed frame, origin top-left; those after it are the policy's again.
  // Throws UsageError for a place outside.
  void look(float u, float v) { pipeline_->look(u, v); }
  void forget(const UvBox& lost) { pipeline_->forget(lost); }  // Pipeline::forget
  // Pipeline::attend: a map holds until the next, rebuild() or reopen().
  void attend(std::optional<AttentionMap> map) { pipeline_->attend(std::move(map)); }
  // Pipeline::set_fixation_source: holds for good.
  void set_fixation_source(FixationSource source);
  // Pipeline::configure; the threshold is then taken as it is, also of a live source.
  Redone configure(const PipelineConfig& config);
  // A new pipeline in the old one's place, which remembers nothing. Likewise.
  void rebuild(const PipelineConfig& config);
  // Pipeline::sample: of the frame that came last.
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
    pipeline_->sample(plan, color, batch);
  }
  // Pipeline::choose_views, forget_views, read_view.
  std::vector<View> choose_views(const TokenRule& rule, int tokens, const std::optional<GazePoint>& look,
                                 bool new_only);
  std::vector<View> choose_views(const ViewsChoice& choice);
  void forget_views() { pipeline_->forget_views(); }
  void read_view(const View& view, std::span<std::uint8_t> out) { pipeline_->read_view(view, out); }
  void reset() { pipeline_->reset(); }  // the next frame doesn't follow the last: after a seek
  bool seek(std::int64_t pts_ns);       // Feed::seek and reset()
  // Another source, with a new pipeline of these settings; the counters begin again. The old feed goes, and its frames
  // must have gone.
  void reopen(std::unique_ptr<Feed> feed, const PipelineConfig& config);

  // Any thread: reading, waiting and seeking end promptly, for good.
  void interrupt();
  bool interrupted() const { return interrupted_.load(); }
  // Ends decoding and joins its thread. May wait where no interrupt reaches: a pipe whose writer is silent.
  void stop() { feed_->stop(); }

  const StreamInfo& info() const { return feed_->info(); }
  const Pipeline& pipeline() const { return *pipeline_; }
  Feed& feed() { return *feed_; }
  const Feed& feed() const { return *feed_; }
  const LiveMeter& live() const { return live_; }
  // From the first frame's time to the last one's.
  std::int64_t media_ns() const { return last_pts_ns_ - first_pts_ns_; }
  SessionFacts facts() const;

 private:
  PipelineConfig in_force() const;
  void make_pipeline();
  void prepare(const FrameView& view);
  SessionStep take(Emission& out, const PatchTarget* into, bool may_wait);
  void note_frame(const FrameView& view);
  void recycle_read_frames(std::size_t most);
  SessionStatus end_status() const;
  [[noreturn]] void throw_no_frame() const;
  void note_wait(std::int64_t begin_ns, const Frame& frame);
  void note_gap(const FrameView& view);
  void note_recording() const;

  SessionConfig config_;
  std::mutex mutex_;  // of feed_'s replacement against interrupt()
  std::unique_ptr<Feed> feed_;
  // Frames that a device may still read. They go before their feed, and after the pipeline has waited for it.
  struct FrameInUse {
    Frame frame;
    std::shared_ptr<const DeviceMark> reading;
  };
  std::deque<FrameInUse> in_use_;
  std::optional<Pipeline> pipeline_;
  FixationSource fixation_source_;
  std::atomic<bool> interrupted_{false};
  LiveMeter live_;
  std::vector<StreamGap> gaps_;
  DurationHistogram wait_times_;  // of the calling thread, for a frame
  bool peeked_ = false;           // start() has waited for the frame that comes next
  bool prepared_ = false;         // the pipeline is
  bool any_frame_ = false;
  std::int64_t first_pts_ns_ = 0;
  std::int64_t last_pts_ns_ = 0;
};

}  // namespace saccade
