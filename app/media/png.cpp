#include "app/media/png.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "app/media/av.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

preview::AvPtr<AVFrame> wrap_rows(const RgbImage& image) {
  auto frame = preview::make_frame(image.width, image.height, AV_PIX_FMT_RGB24);
  for (int y = 0; y < image.height; ++y) {
    std::memcpy(frame->data[0] + std::ptrdiff_t{y} * frame->linesize[0], image.pixel(0, y),
                static_cast<std::size_t>(image.width) * 3);
  }
  return frame;
}

}  // namespace

std::vector<std::uint8_t> encode_png(const RgbImage& image, const std::string& output) {
  const AVCodec* const codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (codec == nullptr) throw Error(ErrorKind::kUnavailable, fmt::format("{}: this FFmpeg has no PNG encoder", output));
  preview::AvPtr<AVCodecContext> encoder(avcodec_alloc_context3(codec));
  preview::AvPtr<AVPacket> packet(av_packet_alloc());
  if (!encoder || !packet) throw std::bad_alloc();
  encoder->width = image.width;
  encoder->height = image.height;
  encoder->pix_fmt = AV_PIX_FMT_RGB24;
  encoder->time_base = {1, 1};
  preview::check(avcodec_open2(encoder.get(), codec, nullptr), output, "PNG encoder");
  preview::check(avcodec_send_frame(encoder.get(), wrap_rows(image).get()), output, "PNG encoder");
  preview::check(avcodec_receive_packet(encoder.get(), packet.get()), output, "PNG encoder");
  return {packet->data, packet->data + packet->size};
}

void write_png(const RgbImage& image, const std::string& output) {
  const std::vector<std::uint8_t> bytes = encode_png(image, output);
  const std::string partial = preview::partial_name(output);
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw Error(ErrorKind::kOutput,
                fmt::format("{}: can't be written; is the folder there, writable, and not full?", output));
  }
  preview::publish(partial, output);
}

}  // namespace saccade
