#include "ui/window/player_jobs.h"

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

PlayerJobs::PlayerJobs(std::optional<QueuePolicy> policy, std::function<void()> wake)
    : policy_(policy), wake_(std::move(wake)) {}

PlayerJobs::~PlayerJobs() {
  give_up_opening();
  if (player_) player_->interrupt();
}

void PlayerJobs::give_up_opening() {
  if (cancel_ && opening()) *cancel_ = true;
  if (opening_.thread.joinable()) opening_.thread.join();
  opening_ = {};
}

void PlayerJobs::open(const SourceConfig& config) {
  give_up_opening();
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  SourceConfig source = config;
  source.stop = cancel_;
  auto [result, thread] = run<std::unique_ptr<Player>>(
      [source = std::move(source), policy = policy_] { return std::make_unique<Player>(source, policy); }, wake_);
  opening_ = {std::move(result), std::move(thread)};
}

std::unique_ptr<Player> PlayerJobs::take_opened() { return ready(opening_.result) ? opening_.result.get() : nullptr; }

void PlayerJobs::play(std::unique_ptr<Player> player) {
  if (seeking() && player_) player_->interrupt();
  seeking_ = {};  // joins
  next_.reset();
  player_ = std::move(player);
}

void PlayerJobs::seek(SeekKind kind, std::int64_t pts_ns) {
  if (seeking()) {
    next_ = Seek{kind, pts_ns};
  } else if (player_) {
    start({kind, pts_ns});
  }
}

void PlayerJobs::start(Seek seek) {
  auto [result, thread] = run<bool>(
      [seek, player = player_.get()] {
        return seek.kind == SeekKind::kFrom ? player->seek(seek.pts_ns) : player->seek_before(seek.pts_ns);
      },
      wake_);
  seeking_ = {std::move(result), std::move(thread)};
}

std::optional<bool> PlayerJobs::take_sought() {
  if (!ready(seeking_.result)) return std::nullopt;
  const bool sought = seeking_.result.get();
  if (!next_) return sought;
  start(*std::exchange(next_, std::nullopt));
  return std::nullopt;
}

}  // namespace saccade::ui
