#include "ui/viewer/feed_jobs.h"

#include <utility>

namespace saccade::ui {

FeedJobs::FeedJobs(std::optional<QueuePolicy> policy, OpenFeed open, std::function<void()> wake)
    : policy_(policy), open_(std::move(open)), wake_(std::move(wake)) {}

FeedJobs::~FeedJobs() {
  give_up_opening();
  give_up_seeking();
}

void FeedJobs::give_up_opening() {
  if (cancel_ && opening()) *cancel_ = true;
  opening_ = {};  // joins
}

void FeedJobs::open(const SourceConfig& config) {
  give_up_opening();
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  FeedConfig wanted;
  wanted.source = config;
  wanted.source.stop = cancel_;
  wanted.policy = policy_;
  opening_ = Job<OpenedFeed>(
      [wanted = std::move(wanted), open = open_] {
        OpenedFeed opened = open(wanted);
        if (opened.feed->peek() == nullptr) opened.feed->throw_no_frame();
        return opened;
      },
      wake_);
}

OpenedFeed FeedJobs::take_opened() { return opening_.ready() ? opening_.take() : OpenedFeed{}; }

void FeedJobs::give_up_seeking() {
  if (seeking()) sought_->interrupt();
  seeking_ = {};  // joins
  next_.reset();
}

void FeedJobs::seek(Feed& feed, SeekKind kind, std::int64_t pts_ns) {
  next_ = Seek{&feed, kind, pts_ns};
  seek_next();
}

void FeedJobs::start(Seek seek) {
  sought_ = seek.feed;
  seeking_ = Job<bool>(
      [seek] {
        return seek.kind == SeekKind::kFrom ? seek.feed->seek(seek.pts_ns) : seek.feed->seek_before(seek.pts_ns);
      },
      wake_);
}

std::optional<bool> FeedJobs::take_sought() { return seeking_.ready() ? std::optional(seeking_.take()) : std::nullopt; }

bool FeedJobs::seek_next() {
  if (!next_ || seeking()) return false;
  start(*std::exchange(next_, std::nullopt));
  return true;
}

}  // namespace saccade::ui
