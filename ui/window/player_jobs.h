// What plays in the window. Opening and seeking may wait for a disk or a network, so they are done on a thread of their
// own, one job at a time, and the window goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "pipeline/run/player.h"

namespace saccade::ui {

// The main thread's. While a seek is under way the player is the job's, and nothing is asked of it here.
class PlayerJobs {
 public:
  // wake: called on the job's thread when a job is done, so that the window looks at it.
  PlayerJobs(std::optional<QueuePolicy> policy, std::function<void()> wake);
  ~PlayerJobs();  // cuts short what waits, and joins
  PlayerJobs(const PlayerJobs&) = delete;
  PlayerJobs& operator=(const PlayerJobs&) = delete;

  void open(const SourceConfig& config);  // one that is under way is given up
  bool opening() const { return opening_.result.valid(); }
  // The source that was to be opened, once, when it is; null before. Throws InputError when it can't be.
  std::unique_ptr<Player> take_opened();
  // Frames of the old player must be gone.
  void play(std::unique_ptr<Player> player);

  enum class SeekKind : std::uint8_t { kFrom, kBefore };  // Player::seek, Player::seek_before
  // The newest wins: one that comes while another is under way is done after it.
  void seek(SeekKind kind, std::int64_t pts_ns);
  bool seeking() const { return seeking_.result.valid(); }
  // Once when all seeks are done: whether the last could be.
  std::optional<bool> take_sought();

  Player* player() const { return seeking() ? nullptr : player_.get(); }  // null: none yet, or it seeks

 private:
  template <typename Result>
  struct Job {
    std::future<Result> result;  // valid until it was taken
    std::jthread thread;
  };
  struct Seek {
    SeekKind kind;
    std::int64_t pts_ns;
  };
  void start(Seek seek);
  void give_up_opening();

  std::optional<QueuePolicy> policy_;
  std::function<void()> wake_;
  std::unique_ptr<Player> player_;
  std::shared_ptr<std::atomic<bool>> cancel_;  // SourceConfig::stop of the source being opened
  std::optional<Seek> next_;
  Job<std::unique_ptr<Player>> opening_;
  Job<bool> seeking_;
};

}  // namespace saccade::ui
