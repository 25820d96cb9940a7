// Frames on the card turned upright where they lie.
#pragma once

#include "kernels/frame_view.h"
#include "pipeline/source/convert/orientation.h"
#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Whether this build can turn such a frame on the card.
bool can_turn_on_card(const AVFrame& frame);

// Makes frames of turned size on the card, from a pool of their own.
class CardTurner {
 public:
  // In place: `frame` is another buffer of the same card afterwards. Throws Error.
  void turn(AVFrame& frame, PixelLayout layout, const Orientation& turn);

 private:
  void make_pool(const AVFrame& frame, int width, int height);
  BufferPtr pool_;  // an AVHWFramesContext
  int width_ = 0;
  int height_ = 0;
  int format_ = -1;
};

}  // namespace saccade
