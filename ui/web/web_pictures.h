// The way of a drawn picture to the pages: read back, encoded, sharpened when it stands still.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/gl/context.h"
#include "pipeline/log.h"
#include "ui/web/alarm.h"
#include "ui/web/frame_encoder.h"
#include "ui/web/frame_reader.h"
#include "ui/web/server/web_server.h"

namespace saccade::ui {

// One thread, the GL context's.
class WebPictures {
 public:
  // All outlive it.
  WebPictures(const gl::Context& context, WebServer& server, Alarm& alarm, const Log& log);

  std::size_t coming() const { return encoder_.pictures(); }
  void bind(int width_px, int height_px) { reader_.bind(width_px, height_px); }  // for drawing
  // Sends what was drawn since bind(), which shows the driver's input `applied`. False: the pages have it already.
  bool send(std::uint32_t applied, std::int64_t pts_ns);
  void force() { force_ = true; }  // the next one is sent in any case
  // Sends the last one once more, sharp, when its time has come; returns when to try again: 0, nothing is to be done.
  std::int64_t sharpen(std::int64_t now_ns);

 private:
  WebServer& server_;
  FrameReader reader_;
  GlPicture sent_;
  std::uint32_t seq_ = 0;
  std::int64_t sent_at_ns_ = 0;
  bool force_ = true, sharp_ = true;
  FrameEncoder encoder_;  // last: its thread ends first
};

}  // namespace saccade::ui
