// What waits for a disk or a network, opening and seeking, is done on a thread of its own, one job at a time, and the
// window goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "ui/picture/recorded_look.h"
#include "ui/viewer/job.h"

namespace saccade::ui {

// The main thread's. While a seek is under way the feed is the job's, and nothing else is asked of it.
class FeedJobs {
 public:
  // wake: called on the job's thread when a job is done, so that the window looks at it.
  FeedJobs(std::optional<QueuePolicy> policy, OpenFeed open, std::function<void()> wake);
  ~FeedJobs();  // cuts short what waits, and joins
  FeedJobs(const FeedJobs&) = delete;
  FeedJobs& operator=(const FeedJobs&) = delete;

  void open(const SourceConfig& config);  // one that is under way is given up
  bool opening() const { return opening_.pending(); }
  // The feed that was to be opened, once, when it is and has its first frame; empty before. Throws InputError when it
  // can't be.
  OpenedFeed take_opened();

  enum class SeekKind : std::uint8_t { kFrom, kBefore };  // Feed::seek, Feed::seek_before
  // The newest wins: one that comes while another is under way waits for seek_next().
  void seek(Feed& feed, SeekKind kind, std::int64_t pts_ns);
  bool seeking() const { return seeking_.pending(); }
  // Once when a seek is done: whether it could be. The feed is free then.
  std::optional<bool> take_sought();
  bool seek_next();        // starts the seek that waits, if one does
  void give_up_seeking();  // the feed is to go: it is interrupted

 private:
  struct Seek {
    Feed* feed;
    SeekKind kind;
    std::int64_t pts_ns;
  };
  void start(Seek seek);
  void give_up_opening();

  std::optional<QueuePolicy> policy_;
  const OpenFeed open_;
  std::function<void()> wake_;
  std::shared_ptr<std::atomic<bool>> cancel_;  // SourceConfig::stop of the source being opened
  Feed* sought_ = nullptr;                     // by the seek under way
  std::optional<Seek> next_;
  Job<OpenedFeed> opening_;
  Job<bool> seeking_;
};

}  // namespace saccade::ui
