#include "ui/viewer/feed_jobs.h"

#include <chrono>
#include <exception>
#include <utility>

namespace saccade::ui {
namespace {

template <typename Result>
bool ready(const std::future<Result>& result) {
  return result.valid() && result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// `work` on a thread; its result or exception is there before `wake` is called.
template <typename Result, typename Work>
std::pair<std::future<Result>, std::jthread> run(Work work, std::function<void()> wake) {
  std::promise<Result> promise;
  std::future<Result> result = promise.get_future();
  std::jthread thread([promise = std::move(promise), work = std::move(work), wake = std::move(wake)]() mutable {
    try {
      promise.set_value(work());
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
    wake();
  });
  return {std::move(result), std::move(thread)};
}

}  // namespace

FeedJobs::FeedJobs(std::optional<QueuePolicy> policy, OpenFeed open, std::function<void()> wake)
    : policy_(policy), open_(std::move(open)), wake_(std::move(wake)) {}

FeedJobs::~FeedJobs() {
  give_up_opening();
  give_up_seeking();
}

void FeedJobs::give_up_opening() {
  if (cancel_ && opening()) *cancel_ = true;
  if (opening_.thread.joinable()) opening_.thread.join();
  opening_ = {};
}

void FeedJobs::open(const SourceConfig& config) {
  give_up_opening();
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  FeedConfig wanted;
  wanted.source = config;
  wanted.source.stop = cancel_;
  wanted.policy = policy_;
  auto [result, thread] = run<OpenedFeed>(
      [wanted = std::move(wanted), open = open_] {
        OpenedFeed opened = open(wanted);
        if (opened.feed->peek() == nullptr) opened.feed->throw_no_frame();
        return opened;
      },
      wake_);
  opening_ = {std::move(result), std::move(thread)};
}

OpenedFeed FeedJobs::take_opened() { return ready(opening_.result) ? opening_.result.get() : OpenedFeed{}; }

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
  auto [result, thread] = run<bool>(
      [seek] {
        return seek.kind == SeekKind::kFrom ? seek.feed->seek(seek.pts_ns) : seek.feed->seek_before(seek.pts_ns);
      },
      wake_);
  seeking_ = {std::move(result), std::move(thread)};
}

std::optional<bool> FeedJobs::take_sought() {
  return ready(seeking_.result) ? std::optional(seeking_.result.get()) : std::nullopt;
}

bool FeedJobs::seek_next() {
  if (!next_ || seeking()) return false;
  start(*std::exchange(next_, std::nullopt));
  return true;
}

}  // namespace saccade::ui
