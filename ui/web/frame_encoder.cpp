#include "ui/web/frame_encoder.h"

#include <memory>
#include <utility>

#include "pipeline/error.h"
#include "ui/web/wire/quality.h"

namespace saccade::ui {
namespace {

constexpr std::size_t kMostStorage = 3;

JpegSettings settings_of(std::uint8_t rung) {
  if (rung == kSharpRung) return {kSharpQuality, true, false};
  const QualityStep& step = kQualitySteps[rung];
  return {step.jpeg, false, step.half};
}

}  // namespace

FrameEncoder::FrameEncoder(std::function<void(ServedPicturePtr)> done, Log log)
    : done_(std::move(done)), log_(std::move(log)), thread_([this] { run(); }) {}

FrameEncoder::~FrameEncoder() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::size_t FrameEncoder::pictures() const {
  const std::lock_guard lock(mutex_);
  return (busy_ ? 1U : 0U) + (waiting_ ? 1U : 0U) + (sharpen_ ? 1U : 0U);
}

void FrameEncoder::encode(DrawnPicture picture) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ && storage_.size() < kMostStorage) storage_.push_back(std::move(waiting_->pixels));
    waiting_ = std::move(picture);
    sharpen_.reset();
  }
  changed_.notify_all();
}

void FrameEncoder::sharpen(std::uint32_t seq) {
  {
    const std::lock_guard lock(mutex_);
    sharpen_ = seq;  // after one that waits, on a busy machine
  }
  changed_.notify_all();
}

GlPicture FrameEncoder::take_storage() {
  const std::lock_guard lock(mutex_);
  if (storage_.empty()) return {};
  GlPicture storage = std::move(storage_.back());
  storage_.pop_back();
  return storage;
}

void FrameEncoder::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || waiting_ || sharpen_; });
    if (stopping_) return;
    if (waiting_) {
      if (last_ && storage_.size() < kMostStorage) storage_.push_back(std::move(last_->pixels));
      last_ = std::exchange(waiting_, std::nullopt);
    } else if (last_) {
      last_->header.rung = kSharpRung;
      last_->header.seq = *sharpen_;
      sharpen_.reset();
    } else {
      sharpen_.reset();
      continue;
    }
    busy_ = true;
    lock.unlock();
    encode_now(*last_);
    lock.lock();
    busy_ = false;
  }
}

void FrameEncoder::encode_now(DrawnPicture& picture) {
  try {
    scratch_.clear();
    jpeg_.encode(picture.pixels, settings_of(picture.header.rung), scratch_);
  } catch (const Error& error) {
    log_.error("view: {}", one_line(error.fault()));
    return;
  }
  auto served = std::make_shared<ServedPicture>();
  served->seq = picture.header.seq;
  served->rung = picture.header.rung;
  const auto header = pack(picture.header);
  served->bytes.reserve(header.size() + scratch_.size());
  served->bytes.assign(header.begin(), header.end());
  served->bytes.insert(served->bytes.end(), scratch_.begin(), scratch_.end());
  done_(std::move(served));
}

}  // namespace saccade::ui
