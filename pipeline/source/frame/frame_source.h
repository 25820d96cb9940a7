// Where frames come from, whatever makes them: its settings, its counters, its calls. pipeline/source/open.h opens one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernels/enum_names.h"
#include "pipeline/error.h"
#include "pipeline/log.h"
#include "pipeline/source/frame/frame.h"
#include "pipeline/source/frame/stream_info.h"

namespace saccade {

enum class ReadStatus : std::uint8_t { kOk, kAgain, kEnd, kFailed };

enum class Deinterlace : std::uint8_t { kAuto, kYes, kNo };
inline constexpr EnumName<Deinterlace> kDeinterlaces[] = {
    {Deinterlace::kAuto, "auto"}, {Deinterlace::kYes, "yes"}, {Deinterlace::kNo, "no"}};
constexpr std::span<const EnumName<Deinterlace>> names_of(Deinterlace) { return kDeinterlaces; }

enum class CropByTags : std::uint8_t { kYes, kNo };
inline constexpr EnumName<CropByTags> kCropByTags[] = {{CropByTags::kYes, "yes"}, {CropByTags::kNo, "no"}};
constexpr std::span<const EnumName<CropByTags>> names_of(CropByTags) { return kCropByTags; }

// What an input can't say itself, as ffmpeg's -f (-input_format for a device), -video_size, -framerate, -pixel_format.
// Empty: not given. A hint that the input has no use for is a UsageError.
struct InputHints {
  std::string format;
  std::string size;
  std::string rate;
  std::string pixel_format;
};

// What only devices, networks and pipes need.
struct LiveConfig {
  std::string rtsp_transport = "tcp";
  std::optional<double> open_timeout_s;   // until there is a stream; 0: none. Default: 10, for pipes none
  std::optional<double> stall_timeout_s;  // without any data; likewise
  int reconnect = 5;  // tries in a row after a live stream broke; 0: its first end is its end, also of a file over HTTP
  double reconnect_delay_max_s = 8;  // between two tries; they begin at 0.25 s and double
  bool assume_live = false;          // what could wait is a live stream, too: a pipe, HTTP without a length
  bool drop_late = false;            // leave packets out rather than fall behind: see pipeline/source/live/lag.h
};

struct SourceConfig {
  std::string uri;  // path, "-", URL, screen:DISPLAY, lavfi:GRAPH, test://NAME
  InputHints input;
  std::optional<int> stream_index;  // among the video streams FFmpeg lists; default: its best
  std::string filters;              // FFmpeg syntax
  Deinterlace deinterlace = Deinterlace::kAuto;
  CropByTags crop_tags = CropByTags::kYes;  // of the container: MP4's clap, Matroska's PixelCrop
  double start_s = 0;                       // from the stream's first time stamp; exact, to the frame
  std::optional<double> duration_s;         // frames with time < start + duration
  std::optional<std::int64_t> max_frames;
  std::int64_t loops = 0;         // extra plays after the first; -1: for ever. Times go on rising
  int threads = 0;                // decoder threads, 0: FFmpeg's choice
  bool keep_first_format = true;  // scale and convert later frames to the first one's size and layout
  LiveConfig live;
  std::shared_ptr<std::atomic<bool>> stop;          // set by anyone: opening and reading end promptly; may be null
  std::int64_t max_pixels = std::int64_t{1} << 27;  // of a picture: 16K UHD fits; a larger one is refused
  bool allow_network = false;                       // a playlist that lies here may open URLs
  int device = 0;                                   // of hwdec: CUDA's ordinal
  HwDecode hwdec = HwDecode::kNo;  // tried; where it can't be, the CPU decodes, and StreamInfo says why
  std::string why_no_hwdec;        // with kNo: why the GPU isn't tried, where it would have been; for StreamInfo
  bool new_decoders = false;       // of the GPU's: none that worked for another stream
  bool require_hwdec = false;      // that is an UnavailableError instead
  bool keep_on_device = false;     // frames decoded there stay there (MemorySpace::kCuda), unless they are converted
  Log log;                         // the source's messages; FFmpeg's among them
};

// Of a source that has no frame at all, though its pictures can be decoded: the setting that leaves none, where one
// does. uri: as it may be shown.
Fault no_frame_in_range(const SourceConfig& config, const std::string& uri);
Fault no_such_stream(const SourceConfig& config, std::size_t there_are);        // of stream_index
Fault too_many_pixels(const SourceConfig& config, const std::string& picture);  // "WxH is N pixels": beyond max_pixels
// Throws UsageError or UnavailableError for a setting that only a decoder follows. Of a source without one: what it is
// ("a test source"), and what becomes of its pictures in place of decoding ("painted").
void refuse_decoding(const SourceConfig& config, const char* source, const char* made);
void check_pixels(const SourceConfig& config, int width_px, int height_px);  // throws that

// Counters a source keeps; read after the end, or from its own thread.
struct SourceCounters {
  std::int64_t frames = 0;           // delivered
  std::int64_t packets_corrupt = 0;  // refused by the demuxer or the decoder
  std::int64_t frames_corrupt = 0;   // delivered, but flagged as damaged by the decoder
  std::int64_t packets_lost = 0;     // RTP packets that never came, by the gaps in their numbers
  std::int64_t segments_lost = 0;    // of a playlist, that could not be opened
  std::int64_t pts_made_up = 0;      // frames without a time stamp, given the last one plus a frame's duration
  std::int64_t pts_not_rising = 0;   // frames whose time stamp did not rise
  std::int64_t format_changes = 0;
  std::int64_t frames_off_device = 0;  // decoded on the CPU, after the GPU had decoded the first one
  bool decoder_used = false;           // the GPU's decoder had decoded another video before: keep_decoders()
  bool decoder_erred = false;          // and one of its pictures failed, or may have
  bool several_threads = false;        // FFmpeg decoded on them: how it mends damage depends on their number
  bool truncated = false;              // the container ended before its promise, or with an I/O error
  std::int64_t packets_late = 0;       // left out because decoding was behind a live stream
  std::int64_t late_ns = 0;            // the time that these spanned
  std::int64_t waited_ns = 0;          // for packets from a network, a device or a pipe
  std::int64_t gaps = 0;               // the connection was lost and made again
  std::int64_t gaps_ns = 0;            // their length in all: from the last frame before to the first one after

  SourceCounters& operator+=(const SourceCounters& other);  // truncated: one of the two was
  std::string damage() const;  // "3 corrupt packets, 1 corrupt frame"; empty: all that was sent came, and decoded
};

// How a live stream's connection stands.
struct LinkState {
  bool lost = false;   // and not yet back
  int tries = 0;       // to get it back: the one under way or to come, from 1
  int most_tries = 0;  // of them, then the stream ends
  std::string reason;  // for which it was lost
};

// How a stream came to its end.
struct StreamEnd {
  bool broke = false;  // by an error, a time-out or a pulled device; false: it was over
  std::string reason;  // in words; empty: the end of the stream
  bool lost = false;   // of what is not live: the disk or the network failed, and the input may be whole
  int error = 0;       // where it broke: as Fault::error
};

// One reader thread. interrupt() may come from any thread and makes a blocking call return kFailed or kEnd promptly.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual ReadStatus next(Frame& out) = 0;  // kAgain: nothing yet, a moment was waited: call again
  virtual const StreamInfo& info() const { return info_; }
  virtual const SourceCounters& counters() const { return counters_; }
  // After kFailed. kUnavailable: a device failed; the input may be whole.
  virtual const Fault& fault() const { return fault_; }
  virtual StreamEnd end() const { return {}; }   // after kEnd
  virtual LinkState link() const { return {}; }  // any thread, at any time
  virtual void interrupt() = 0;
  // The next frame is the first whose time is pts_ns or later, exactly; kEnd when there is none. The reader's thread.
  // False, and nothing happened, where the input can't go back: a pipe, a device.
  virtual bool seek(std::int64_t /*pts_ns*/) { return false; }
  virtual void recycle(Frame frame) = 0;  // optional, any thread: gives the AVFrame back for reuse

 protected:
  StreamInfo info_;
  SourceCounters counters_;
  Fault fault_;
};

}  // namespace saccade
