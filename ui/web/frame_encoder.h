// Makes JPEGs of drawn pictures on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "pipeline/log.h"
#include "ui/web/jpeg.h"
#include "ui/web/wire/client_flow.h"
#include "ui/web/wire/frame_header.h"

namespace saccade::ui {

struct DrawnPicture {
  GlPicture pixels;
  FrameHeader header;  // its rung says how good the JPEG is
};

// Called on the viewer's thread. One picture is encoded and one waits; of those that wait the newest wins.
class FrameEncoder {
 public:
  // done: gets each on the encoder's thread.
  FrameEncoder(std::function<void(ServedPicturePtr)> done, Log log);
  ~FrameEncoder();
  FrameEncoder(const FrameEncoder&) = delete;
  FrameEncoder& operator=(const FrameEncoder&) = delete;

  std::size_t pictures() const;  // that were given and are not done
  void encode(DrawnPicture picture);
  // The last one once more, as sharp as it gets; after one that waits, and not where a newer one comes first. seq: its
  // new number.
  void sharpen(std::uint32_t seq);
  GlPicture take_storage();  // of a picture that is done with, or empty

 private:
  void run();
  void encode_now(DrawnPicture& picture);

  const std::function<void(ServedPicturePtr)> done_;
  const Log log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false, busy_ = false;
  std::optional<DrawnPicture> waiting_;
  std::optional<std::uint32_t> sharpen_;
  std::vector<GlPicture> storage_;
  std::optional<DrawnPicture> last_;  // the thread's own, as the rest
  JpegEncoder jpeg_;
  std::vector<std::uint8_t> scratch_;
  std::thread thread_;
};

}  // namespace saccade::ui
