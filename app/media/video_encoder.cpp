#include "app/media/video_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include "app/media/av.h"
#include "pipeline/error.h"

extern "C" {
#include <libavutil/opt.h>
}

namespace saccade {
namespace {

using preview::AvPtr;
using preview::check;

// Exact for 1001/24000, 1001/30000 and 1001/60000 s, for 90 kHz and for whole milliseconds.
constexpr AVRational kTimeBase{1, 360000};
constexpr AVRational kNanoseconds{1, 1000000000};

struct Container {
  const char* suffix;
  const char* muxer;
  std::array<const char*, 2> encoders;  // the best first
};
constexpr std::array<Container, 4> kContainers{{{".mp4", "mp4", {"libx264", "mpeg4"}},
                                                {".mov", "mov", {"libx264", "mpeg4"}},
                                                {".mkv", "matroska", {"libx264", "mpeg4"}},
                                                {".webm", "webm", {"libvpx-vp9", "libvpx"}}}};

const Container* find_container(const std::string& output) {
  const std::string suffix = std::filesystem::path(output).extension().string();
  const auto found =
      std::find_if(kContainers.begin(), kContainers.end(), [&](const Container& c) { return suffix == c.suffix; });
  return found == kContainers.end() ? nullptr : &*found;
}

const AVCodec* find_encoder(const Container& container, const std::string& output) {
  for (const char* const encoder : container.encoders) {
    if (const AVCodec* const codec = avcodec_find_encoder_by_name(encoder)) return codec;
  }
  throw UnavailableError(fmt::format("{}: this FFmpeg has neither {} nor {}; a .png needs no video encoder", output,
                                     container.encoders[0], container.encoders[1]));
}

}  // namespace

// Note [Preview times]
// Encoders see frame numbers 0, 1, 2 ...; the container gets the true times from `times`. So any encoder keeps times
// that are finer than its own clock (MPEG-4's has 16 bits), and none reorders or drops pictures by rate.
struct PreviewEncoder::State {
  ~State();
  std::string output;
  std::string partial;
  int width = 0, height = 0;              // of the pictures
  int coded_width = 0, coded_height = 0;  // even
  std::vector<std::int64_t> times;        // in kTimeBase, one more than there are pictures
  std::int64_t next = 0;
  bool opened = false;  // `partial` is there
  bool finished = false;
  AvPtr<AVFormatContext> muxer;
  AvPtr<AVCodecContext> encoder;
  AvPtr<SwsContext> converter;
  AvPtr<AVFrame> rgb, yuv;
  AvPtr<AVPacket> packet;
  AVStream* stream = nullptr;  // the muxer's

  void set_times(const std::vector<std::int64_t>& pts_ns, std::int64_t hold_ns);
  void open_encoder(const AVCodec* codec);
  void open_converter();
  void open_file(const Container& container);
  void drain();
};

PreviewEncoder::State::~State() {
  if (finished || !opened) return;
  muxer.reset();
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
}

void PreviewEncoder::State::set_times(const std::vector<std::int64_t>& pts_ns, std::int64_t hold_ns) {
  const std::int64_t shift = pts_ns.empty() ? 0 : std::max<std::int64_t>(-pts_ns.front(), 0);
  for (const std::int64_t pts : pts_ns) times.push_back(av_rescale_q(pts + shift, kNanoseconds, kTimeBase));
  if (!pts_ns.empty()) times.push_back(av_rescale_q(pts_ns.back() + shift + hold_ns, kNanoseconds, kTimeBase));
}

void PreviewEncoder::State::open_encoder(const AVCodec* codec) {
  encoder.reset(avcodec_alloc_context3(codec));
  if (!encoder) throw std::bad_alloc();
  const double seconds = std::max(av_q2d(kTimeBase) * static_cast<double>(times.back() - times.front()), 1e-3);
  const double rate = std::clamp(static_cast<double>(times.size() - 1) / seconds, 1.0, 240.0);
  encoder->width = coded_width;
  encoder->height = coded_height;
  encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder->framerate = av_d2q(rate, 1000);
  encoder->time_base = av_inv_q(encoder->framerate);
  encoder->max_b_frames = 0;  // decode order is display order: the first time stamp stays what it is
  encoder->gop_size = 60;
  encoder->colorspace = AVCOL_SPC_BT709;
  encoder->color_range = AVCOL_RANGE_MPEG;
  encoder->color_primaries = AVCOL_PRI_BT709;
  encoder->color_trc = AVCOL_TRC_BT709;
  encoder->chroma_sample_location = AVCHROMA_LOC_LEFT;
  if ((muxer->oformat->flags & AVFMT_GLOBALHEADER) != 0) encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  if (codec->id == AV_CODEC_ID_MPEG4) {
    encoder->flags |= AV_CODEC_FLAG_QSCALE;
    encoder->global_quality = 3 * FF_QP2LAMBDA;
  } else {
    // A private option that an encoder lacks is passed over: crf is both x264's and libvpx's.
    av_opt_set(encoder->priv_data, "preset", "veryfast", 0);
    av_opt_set(encoder->priv_data, "crf", codec->id == AV_CODEC_ID_H264 ? "17" : "24", 0);
    av_opt_set(encoder->priv_data, "deadline", "realtime", 0);
    av_opt_set(encoder->priv_data, "cpu-used", "6", 0);
  }
  check(avcodec_open2(encoder.get(), codec, nullptr), output, codec->name);
}

void PreviewEncoder::State::open_converter() {
  converter.reset(sws_getContext(coded_width, coded_height, AV_PIX_FMT_RGB24, coded_width, coded_height,
                                 AV_PIX_FMT_YUV420P, SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nullptr,
                                 nullptr, nullptr));
  if (!converter) throw std::bad_alloc();
  const int* const bt709 = sws_getCoefficients(SWS_CS_ITU709);
  check(sws_setColorspaceDetails(converter.get(), bt709, 1, bt709, 0, 0, 1 << 16, 1 << 16), output,
        "colour conversion");
  rgb = preview::make_frame(coded_width, coded_height, AV_PIX_FMT_RGB24);
  std::fill_n(rgb->data[0], static_cast<std::size_t>(rgb->linesize[0]) * static_cast<std::size_t>(coded_height),
              std::uint8_t{128});
  yuv = preview::make_frame(coded_width, coded_height, AV_PIX_FMT_YUV420P);
}

void PreviewEncoder::State::open_file(const Container& container) {
  AVFormatContext* context = nullptr;
  check(avformat_alloc_output_context2(&context, nullptr, container.muxer, partial.c_str()), output, "muxer");
  muxer.reset(context);
  const AVCodec* const codec = find_encoder(container, output);
  open_encoder(codec);
  stream = avformat_new_stream(muxer.get(), nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  stream->time_base = kTimeBase;
  check(avcodec_parameters_from_context(stream->codecpar, encoder.get()), output, "muxer");
  const std::string url = "file:" + partial;
  check(avio_open(&muxer->pb, url.c_str(), AVIO_FLAG_WRITE), output, preview::kWriting);
  opened = true;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "movflags", "+faststart", 0);
  const int code = avformat_write_header(muxer.get(), &options);
  av_dict_free(&options);
  check(code, output, preview::kWriting);
}

void PreviewEncoder::State::drain() {
  for (;;) {
    const int code = avcodec_receive_packet(encoder.get(), packet.get());
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return;
    check(code, output, encoder->codec->name);
    const auto number = static_cast<std::size_t>(packet->pts);
    packet->pts = packet->dts = times[number];
    packet->duration = times[number + 1] - times[number];
    packet->stream_index = stream->index;
    av_packet_rescale_ts(packet.get(), kTimeBase, stream->time_base);
    check(av_write_frame(muxer.get(), packet.get()), output, preview::kWriting);
    av_packet_unref(packet.get());
  }
}

PreviewEncoder::PreviewEncoder(std::string output, int width_px, int height_px, std::vector<std::int64_t> pts_ns,
                               std::int64_t hold_ns)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  const Container* const container = find_container(output);
  if (container == nullptr)
    throw UsageError(fmt::format("{}: unknown kind of picture; use .png, .mp4, .mkv or .webm", output));
  s.output = std::move(output);
  s.partial = preview::partial_name(s.output);
  s.width = width_px;
  s.height = height_px;
  s.coded_width = width_px + (width_px & 1);
  s.coded_height = height_px + (height_px & 1);
  s.set_times(pts_ns, hold_ns);
  if (s.times.empty()) throw Error(ErrorKind::kOutput, fmt::format("{}: a video needs a picture", s.output));
  s.packet.reset(av_packet_alloc());
  if (!s.packet) throw std::bad_alloc();
  s.open_file(*container);
  s.open_converter();
}

PreviewEncoder::~PreviewEncoder() = default;

void PreviewEncoder::add(const RgbImage& image) {
  State& s = *state_;
  check(av_frame_make_writable(s.yuv.get()), s.output, "frame");
  for (int y = 0; y < s.height; ++y) {
    std::copy_n(image.pixel(0, y), static_cast<std::size_t>(s.width) * 3,
                s.rgb->data[0] + std::ptrdiff_t{y} * s.rgb->linesize[0]);
  }
  sws_scale(s.converter.get(), s.rgb->data, s.rgb->linesize, 0, s.coded_height, s.yuv->data, s.yuv->linesize);
  s.yuv->pts = s.next++;
  if (s.encoder->codec_id == AV_CODEC_ID_MPEG4) s.yuv->quality = s.encoder->global_quality;
  check(avcodec_send_frame(s.encoder.get(), s.yuv.get()), s.output, s.encoder->codec->name);
  s.drain();
}

void PreviewEncoder::finish() {
  State& s = *state_;
  check(avcodec_send_frame(s.encoder.get(), nullptr), s.output, s.encoder->codec->name);
  s.drain();
  check(av_write_trailer(s.muxer.get()), s.output, preview::kWriting);
  check(avio_closep(&s.muxer->pb), s.output, preview::kWriting);
  preview::publish(s.partial, s.output);
  s.finished = true;
}

const char* PreviewEncoder::encoder_name() const { return state_->encoder->codec->name; }

bool PreviewEncoder::knows_suffix(const std::string& output) { return find_container(output) != nullptr; }

}  // namespace saccade
