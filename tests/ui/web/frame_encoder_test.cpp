// Pictures on their way through the encoder's thread.
#include "ui/web/frame_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace saccade::ui {
namespace {

using testing::ElementsAre;
using testing::Pair;

// What came out, by number and rung. The first one is held back until `go`.
class Done {
 public:
  void operator()(const ServedPicturePtr& picture) {
    std::unique_lock lock(mutex_);
    pictures_.emplace_back(picture->seq, picture->rung);
    changed_.notify_all();
    changed_.wait(lock, [this] { return free_; });
  }
  std::vector<std::pair<unsigned, unsigned>> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pictures_.size() >= count; });
    return pictures_;
  }
  void go() {
    const std::lock_guard lock(mutex_);
    free_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool free_ = false;
  std::vector<std::pair<unsigned, unsigned>> pictures_;
};

DrawnPicture picture(std::uint32_t seq) {
  DrawnPicture drawn{{16, 16, std::vector<std::uint8_t>(std::size_t{16} * 16 * 4, 90)}, {}};
  drawn.header.seq = seq;
  drawn.header.rung = 2;
  return drawn;
}

TEST(FrameEncoder, SharpenedWhileAnotherWaits_ComesAfterIt) {
  Done done;
  FrameEncoder encoder([&done](const ServedPicturePtr& made) { done(made); }, Log{});
  encoder.encode(picture(1));
  done.wait_for(1);
  encoder.encode(picture(2));
  encoder.sharpen(3);  // the machine is busy: 2 waits still
  EXPECT_EQ(encoder.pictures(), 3U);
  done.go();
  EXPECT_THAT(done.wait_for(3), ElementsAre(Pair(1, 2), Pair(2, 2), Pair(3, kSharpRung)));
}

TEST(FrameEncoder, ANewerPicture_TakesTheSharpOnesPlace) {
  Done done;
  FrameEncoder encoder([&done](const ServedPicturePtr& made) { done(made); }, Log{});
  encoder.sharpen(0);  // there is nothing yet
  encoder.encode(picture(1));
  done.wait_for(1);
  encoder.sharpen(2);
  encoder.encode(picture(3));
  encoder.encode(picture(4));
  done.go();
  EXPECT_THAT(done.wait_for(2), ElementsAre(Pair(1, 2), Pair(4, 2)));
}

}  // namespace
}  // namespace saccade::ui
