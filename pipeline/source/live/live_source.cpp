#include "pipeline/source/live/live_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/source/frame/input_name.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kSameTime_ns = kSecond_ns;   // a stream whose own time is this near the clock's has gone on
constexpr std::int64_t kBrief_ns = 2 * kSecond_ns;  // a connection that ends within it is followed by a pause
constexpr double kFirstDelay_s = 0.25;
constexpr auto kMoment = std::chrono::milliseconds(20);

std::int64_t to_ns(double seconds) { return std::llround(seconds * 1e9); }

const char* pixel_format(PixelLayout layout) {
  switch (layout) {
    case PixelLayout::kI420:
      return "yuv420p";
    case PixelLayout::kNv12:
      return "nv12";
    case PixelLayout::kI420p16:
      return "yuv420p10le";
    case PixelLayout::kP016:
      return "p010le";
    case PixelLayout::kRgba8:
      return "rgba";
  }
  return "yuv420p";
}

// One connection after another.
class LiveSource final : public FrameSource {
 public:
  LiveSource(const SourceConfig& wanted, const SourceConfig& connection, std::unique_ptr<FrameSource> first,
             OpenConnection open, bool may_return);
  ReadStatus next(Frame& out) override;
  StreamEnd end() const override { return end_; }
  LinkState link() const override;
  void interrupt() override { *connection_.stop = true; }
  void recycle(Frame frame) override;

 private:
  enum class Wanted : std::uint8_t { kYes, kEarly, kPastEnd };
  Wanted accept(Frame& frame);
  void resume_time(const FrameView& view, const FrameOrigin& origin);
  bool lose();
  void wait_before_try();
  bool reconnect();
  std::unique_ptr<FrameSource> open_alike();
  void count(const SourceCounters& now);
  void note_link(bool lost);
  void replace(std::unique_ptr<FrameSource> source);

  const SourceConfig wanted_;
  const SourceConfig connection_;
  const OpenConnection open_;
  const bool may_return_;
  std::mutex mutex_;  // of source_'s coming and going; recycle() may come from another thread
  std::unique_ptr<FrameSource> source_;
  // Note [Counters of connections]
  // Each connection counts what it reads and decodes; those add up. Frames and gaps are counted here, for the whole
  // stream, and so is its end: a connection that was lost and reconnected is a gap.
  SourceCounters past_;  // of connections that are gone, and what was counted here
  StreamEnd end_;
  bool ended_ = false;
  // Times, as given out
  std::int64_t start_ns_ = 0, end_ns_ = 0, offset_ns_ = 0, last_pts_ns_ = 0;
  FrameOrigin last_origin_;
  float last_sar_ = 0;
  bool any_frame_ = false, after_gap_ = false;
  std::int64_t delivered_ = 0;
  std::int32_t gaps_ = 0;
  // Reconnecting
  int tries_ = 0;
  double delay_s_ = 0;
  std::int64_t connected_at_ns_ = steady_now_ns();
  std::int64_t retry_at_ns_ = 0;
  mutable std::mutex link_mutex_;
  LinkState link_;
};

LiveSource::LiveSource(const SourceConfig& wanted, const SourceConfig& connection, std::unique_ptr<FrameSource> first,
                       OpenConnection open, bool may_return)
    : wanted_(wanted),
      connection_(connection),
      open_(std::move(open)),
      may_return_(may_return),
      source_(std::move(first)) {
  info_ = source_->info();
}

ReadStatus LiveSource::next(Frame& out) {
  while (!ended_ && !connection_.stop->load()) {
    if (!source_) {
      if (steady_now_ns() < retry_at_ns_) {
        std::this_thread::sleep_for(kMoment);
        return ReadStatus::kAgain;
      }
      if (!reconnect()) return ReadStatus::kFailed;
      continue;
    }
    if (wanted_.max_frames && delivered_ >= *wanted_.max_frames) break;
    const ReadStatus status = source_->next(out);
    count(source_->counters());
    if (status == ReadStatus::kAgain) return status;
    if (status == ReadStatus::kFailed) {
      fault_ = source_->fault();
      end_ = source_->end();
      return status;
    }
    if (status == ReadStatus::kEnd) {
      if (connection_.stop->load() || !lose()) break;
      continue;
    }
    const Wanted wanted = accept(out);
    if (wanted == Wanted::kYes) return ReadStatus::kOk;
    if (wanted == Wanted::kPastEnd) break;
  }
  ended_ = true;
  return ReadStatus::kEnd;
}

// Times, numbers and gaps as the user sees them.
LiveSource::Wanted LiveSource::accept(Frame& frame) {
  const FrameView& view = frame.view();
  if (!any_frame_) {
    start_ns_ = view.pts_ns + to_ns(wanted_.start_s);
    if (wanted_.duration_s) end_ns_ = start_ns_ + to_ns(*wanted_.duration_s);
  }
  if (after_gap_) resume_time(view, frame.origin());
  if (after_gap_ || !any_frame_) note_link(false);
  any_frame_ = true;
  after_gap_ = false;
  tries_ = 0;
  last_pts_ns_ = view.pts_ns + offset_ns_;
  last_origin_ = frame.origin();
  last_sar_ = view.sar;
  if (last_pts_ns_ < start_ns_) return Wanted::kEarly;
  if (wanted_.duration_s && last_pts_ns_ >= end_ns_) return Wanted::kPastEnd;
  frame.place(last_pts_ns_, delivered_++, gaps_);
  counters_.frames = delivered_;
  return Wanted::kYes;
}

// From capture to capture where one clock told both, else from arrival to arrival, which is less true: opening a stream
// reads ahead, and its first frame comes out late.
void LiveSource::resume_time(const FrameView& view, const FrameOrigin& origin) {
  const std::int64_t pts_ns = view.pts_ns;
  const std::int64_t passed_ns = origin.clock == last_origin_.clock ? origin.captured_ns - last_origin_.captured_ns
                                                                    : origin.arrived_ns - last_origin_.arrived_ns;
  const std::int64_t lost_ns = std::max<std::int64_t>(passed_ns, 1);
  const std::int64_t by_clock_ns = last_pts_ns_ + lost_ns;
  const bool went_on = pts_ns + offset_ns_ > last_pts_ns_ && std::abs(pts_ns + offset_ns_ - by_clock_ns) < kSameTime_ns;
  if (!went_on) offset_ns_ = by_clock_ns - pts_ns;
  ++gaps_;
  past_.gaps = counters_.gaps = gaps_;
  past_.gaps_ns += lost_ns;
  counters_.gaps_ns = past_.gaps_ns;
  wanted_.log.warn("{}: the stream is back after {:.2f} s", wanted_.uri, static_cast<double>(lost_ns) * 1e-9);
  if (view.sar == last_sar_) return;
  ++past_.format_changes;
  ++counters_.format_changes;
  wanted_.log.warn("{}: a pixel's width over its height changed from {:.4g} to {:.4g}", wanted_.uri, last_sar_,
                   view.sar);
}

// The connection is over. False: so is the stream.
bool LiveSource::lose() {
  end_ = source_->end();
  const bool may_reconnect = end_.broke || names_rtsp(wanted_.uri);  // an RTSP server that died reads as an end
  if (wanted_.live.reconnect <= 0 || !may_return_ || !may_reconnect) return false;
  past_ = counters_;
  past_.truncated = false;
  replace(nullptr);
  after_gap_ = any_frame_;
  tries_ = 0;
  if (steady_now_ns() - connected_at_ns_ >= kBrief_ns) delay_s_ = 0;
  note_link(true);
  wanted_.log.warn("{}: lost connection: {}; reconnecting{}", wanted_.uri,
                   end_.reason.empty() ? "it ended" : end_.reason,
                   delay_s_ > 0 ? fmt::format(" in {} s", delay_s_) : "");
  wait_before_try();
  return true;
}

// Each pause is twice the one before, up to the longest wanted.
void LiveSource::wait_before_try() {
  retry_at_ns_ = steady_now_ns() + to_ns(delay_s_);
  const double longest_s = std::max(wanted_.live.reconnect_delay_max_s, kFirstDelay_s);
  delay_s_ = std::min(std::max(2 * delay_s_, kFirstDelay_s), longest_s);
}

// One try. False: no other can help, and fault() says why.
bool LiveSource::reconnect() {
  const std::int64_t begin_ns = steady_now_ns();
  try {
    replace(open_alike());
    connected_at_ns_ = steady_now_ns();
    past_.waited_ns += steady_now_ns() - begin_ns;
  } catch (const UnavailableError& error) {
    fault_ = error.fault();
    return false;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) return true;
    ++tries_;
    wanted_.log.info("try {} of {}: {}", tries_, wanted_.live.reconnect, one_line(error.fault()));
    wait_before_try();
    if (tries_ < wanted_.live.reconnect) {
      note_link(true);
      return true;
    }
    const std::string before = end_.reason.empty() ? "the stream ended" : end_.reason;
    end_ = {true, fmt::format("{}, and {} tries to reconnect failed", before, tries_)};
    counters_.truncated = true;
    ended_ = true;
  }
  return true;
}

// Frames of another size or layout than the first connection's are brought to that.
std::unique_ptr<FrameSource> LiveSource::open_alike() {
  auto source = open_(connection_);
  const StreamInfo& now = source->info();
  if (!connection_.keep_first_format ||
      (now.width_px == info_.width_px && now.height_px == info_.height_px && now.layout == info_.layout)) {
    return source;
  }
  wanted_.log.warn("{}: reconnected as {}x{} {}; brought to {}x{} {}", wanted_.uri, now.width_px, now.height_px,
                   name(now.layout), info_.width_px, info_.height_px, name(info_.layout));
  SourceConfig scaled = connection_;
  if (!scaled.filters.empty()) scaled.filters += ',';
  scaled.filters += fmt::format("scale={}:{},format={}", info_.width_px, info_.height_px, pixel_format(info_.layout));
  source.reset();
  return open_(scaled);
}

LinkState LiveSource::link() const {
  const std::lock_guard lock(link_mutex_);
  return link_;
}

void LiveSource::note_link(bool lost) {
  const std::lock_guard lock(link_mutex_);
  link_ = {};
  if (lost) link_ = {true, tries_ + 1, wanted_.live.reconnect, end_.reason.empty() ? "it ended" : end_.reason};
}

// See Note [Counters of connections].
void LiveSource::count(const SourceCounters& now) {
  const std::int64_t frames = counters_.frames;
  counters_ = past_;
  counters_ += now;
  counters_.frames = frames;
  const bool reconnected_off_device = info_.hwdec != HwDecode::kNo && source_->info().hwdec == HwDecode::kNo;
  if (reconnected_off_device) counters_.frames_off_device += now.frames;
}

void LiveSource::replace(std::unique_ptr<FrameSource> source) {
  {
    const std::lock_guard lock(mutex_);
    std::swap(source, source_);
  }
  source.reset();  // the old one, which may take its time
}

void LiveSource::recycle(Frame frame) {
  const std::lock_guard lock(mutex_);
  if (source_) source_->recycle(std::move(frame));
}

}  // namespace

SourceConfig connection_config(const SourceConfig& config) {
  SourceConfig connection = config;
  connection.start_s = 0;
  connection.duration_s.reset();
  connection.max_frames.reset();
  connection.loops = 0;
  if (!connection.stop) connection.stop = std::make_shared<std::atomic<bool>>(false);
  return connection;
}

std::unique_ptr<FrameSource> follow_connections(const SourceConfig& config, const SourceConfig& connection,
                                                std::unique_ptr<FrameSource> first, OpenConnection open,
                                                bool may_return) {
  return std::make_unique<LiveSource>(config, connection, std::move(first), std::move(open), may_return);
}

}  // namespace saccade
