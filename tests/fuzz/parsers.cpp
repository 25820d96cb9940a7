#include "parsers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "app/dump/npy.h"
#include "app/dump/npy_reader.h"
#include "app/options/config.h"
#include "pipeline/error.h"
#include "pipeline/gaze/recorded/recording.h"
#include "pipeline/source/demux/locate.h"
#include "pipeline/source/ffmpeg/exif.h"
#include "pipeline/source/tags/mp4_tags.h"
#if SACCADE_WEB
#include "ui/web/wire/client_message.h"
#endif

namespace saccade::fuzz {

using namespace std::literals;

namespace {

// A file in memory, under a name that can be opened.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    while (!bytes.empty()) {
      const ssize_t wrote = write(fd_, bytes.data(), bytes.size());
      if (wrote <= 0) std::abort();
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

void run_scanpath(Bytes input) {
  const MemoryFile file(input);
  try {
    const RecordedScanpath path = read_recording(file.path(), {{}, false, 640, 360});
    promise(!path.points.empty() && path.points.size() == path.begins_ns.size(), "a time for each point");
    promise(std::adjacent_find(path.begins_ns.begin(), path.begins_ns.end(), std::greater_equal<>()) ==
                path.begins_ns.end(),
            "times rise");
    for (const auto& point : path.points) {
      promise(point.u >= 0 && point.u <= 1 && point.v >= 0 && point.v <= 1, "points lie in the frame");
    }
  } catch (const InputError&) {
  }
}

void run_config(Bytes input) {
  const MemoryFile file(input);
  try {
    const GivenValues values = read_config(file.path(), Command::kDump);
    Options options;
    for (const auto& [key, value] : values) {
      const ProgramOption* option = find_option(key);
      promise(option != nullptr, "known options only");
      option->parse(options, value.text);
    }
    const std::string text = write_config(options);
    const MemoryFile again({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    Options read_back;
    for (const auto& [key, value] : read_config(again.path(), Command::kDump)) {
      find_option(key)->parse(read_back, value.text);
    }
    promise(write_config(read_back) == text, "what is written is read back");
  } catch (const UsageError&) {
  }
}

void run_npy(Bytes input) {
  const MemoryFile file(input);
  try {
    NpyArray array(file.path());
    const std::vector<std::int64_t> any(array.shape().size(), -1);
    array.require("'|u1'", 1, any);
    unsigned sum = 0;
    for (const std::int64_t row : {std::int64_t{0}, array.rows() - 1}) {
      if (row < 0 || array.rows() == 0) continue;
      for (const std::byte value : array.row(row)) sum += std::to_integer<unsigned>(value);
    }
    promise(sum <= 255U * input.size() * 2, "what was read lies in the file");
  } catch (const InputError&) {
  }
}

void run_uri(Bytes input) {
  const std::string uri(input.begin(), input.end());
  const bool costly = std::count(uri.begin(), uri.end(), '*') + std::count(uri.begin(), uri.end(), '{') > 1;
  if (costly || uri.find('\0') != std::string::npos) return;
  try {
    const InputLocation location = locate_input(uri);
    promise(!location.url.empty() || !location.format.empty(), "an input lies somewhere");
    promise(!location.sequence || location.format == "image2", "pictures are read as pictures");
    promise((location.kind == InputKind::kPipe) == (uri == "-" || uri.starts_with("pipe:")),
            "standard input only when it is named");
  } catch (const Error&) {
  }
}

// As TIFF itself, and inside each format that has EXIF.
void run_exif(Bytes input) {
  for (const Bytes exif : {input, find_jpeg_exif(input), find_png_exif(input), find_webp_exif(input)}) {
    promise(exif.empty() || (exif.data() >= input.data() && exif.data() + exif.size() <= input.data() + input.size()),
            "EXIF lies in the picture");
    const int orientation = read_orientation(exif);
    promise(orientation >= 0 && orientation <= 8, "there are eight orientations");
    promise(count_pages(exif) >= 0 && static_cast<std::size_t>(count_pages(exif)) <= exif.size() / 12,
            "each page has an entry of its own");
  }
}

void run_boxes(Bytes input) {
  const MemoryFile file(input);
  const FormatContextPtr format(avformat_alloc_context());
  AVStream* stream = format ? avformat_new_stream(format.get(), nullptr) : nullptr;
  if (stream == nullptr) throw std::bad_alloc();
  stream->id = 1;
  stream->codecpar->width = 64;
  stream->codecpar->height = 48;
  AVIOContext* io = nullptr;
  promise(avio_open(&io, file.path().c_str(), AVIO_FLAG_READ) >= 0, "a file in memory can be read");
  const Mp4Tags tags = read_mp4_tags(*io, {format.get(), stream, {}});
  avio_close(io);
  promise(!tags.is_item || tags.derivation.empty(), "a picture is coded, or put together");
}

#if SACCADE_WEB
bool lies_near(float x, float y) { return std::abs(x) <= 20000 && std::abs(y) <= 20000; }

void run_page(Bytes input) {
  using namespace ui;
  const auto message = parse_client_message({reinterpret_cast<const char*>(input.data()), input.size()});
  const auto* said = message ? std::get_if<InputMessage>(&*message) : nullptr;
  if (said == nullptr) return;
  if (const auto* move = std::get_if<MoveInput>(&said->input)) promise(lies_near(move->x, move->y), "places are near");
  if (const auto* wheel = std::get_if<WheelInput>(&said->input)) {
    promise(lies_near(wheel->x, wheel->y) && std::abs(wheel->dy) <= 20, "the wheel goes in notches");
  }
  if (const auto* size = std::get_if<ResizeInput>(&said->input)) {
    promise(size->width_px >= 320 && size->width_px <= 3840 && size->height_px >= 200 && size->height_px <= 2160,
            "sizes can be drawn");
    promise(size->ratio >= 0.5f && size->ratio <= 4, "ratios can be drawn");
  }
  if (const auto* paste = std::get_if<PasteInput>(&said->input)) {
    promise(paste->text.find_first_of("\n\r\t\x1b\x7f") == std::string::npos, "pasted text has no control characters");
  }
}
#endif

const std::string& npy_file() {
  static const std::string file = npy_header("'|u1'", 2, {3}) + "abcdef";
  return file;
}

}  // namespace

const std::vector<Parser>& parsers() {
  static const std::vector<Parser> all = {
    {"scanpath",
     run_scanpath,
     {"t_s,u,v\n0,0.5,0.5\n0.25,0.1,0.9\n", "# c\r\n-1\t0\t1\n\n1e3\t0.5\t.5", "0,0,0", "x y time [ms]\n1 2 3\n",
      "gaze_timestamp,norm_pos_x,norm_pos_y,confidence\n3,.5,.5,1\n",
      "MSG\t1 DISPLAY_COORDS 0 0 9 9\nEFIX L\t1\t2\t1\t5\t5\t1\n9\t1\t1\t.\n"}},
    {"config",
     run_config,
     {"rate = 4\nthreshold = 3\n[dump]\nevery = \"frame\"\nresume = true\n", "e0 = 2.3\nstrides = [1, 2, 4]\n",
      "fixation = 'center:0.5,0.5'\n[view]\nsize = '640x480'\n", "vf = \"hflip,scale=64:48\"\nloop = 3\n"}},
    {"npy", run_npy, {npy_file(), std::string_view(npy_file()).substr(0, 40)}},
    {"uri",
     run_uri,
     {"clip.mp4", "file:///tmp/a%20b.mp4", "http://host/a.mp4?q=1", "lavfi:testsrc2=s=64x48", "v4l2:///dev/video0",
      "shot%04d.png", "shots/*.png", "rtsp://u:p@h:8554/x", "-", "a:b", "test://box", "pipe:0", "concat:a|b"}},
    {"exif",
     run_exif,
     {"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"sv,
      "II*\0\x08\0\0\0\x02\0\0\x01\x03\0\x01\0\0\0\x40\0\0\0\x12\x01\x03\0\x01\0\0\0\x08\0\0\0\x08\0\0\0"sv,
      "\xff\xd8\xff\xe1\0\x22"
      "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"sv,
      "\x89PNG\r\n\x1a\n\0\0\0\x1a"
      "eXIfMM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0crc!"sv,
      "RIFF\x2e\0\0\0WEBPEXIF\x20\0\0\0Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"sv}},
    {"boxes",
     run_boxes,
     {"\0\0\0\x74meta\0\0\0\0"
      "\0\0\0\x0epitm\0\0\0\0\0\x01"
      "\0\0\0\x23iinf\0\0\0\0\0\x01\0\0\0\x15infe\x02\0\0\0\0\x01\0\0av01\0"
      "\0\0\0\x37iprp\0\0\0\x1aipco\0\0\0\x09irot\x01\0\0\0\x09imir\x01"
      "\0\0\0\x15ipma\0\0\0\0\0\0\0\x01\0\x01\x02\x01\x02"sv}},
#if SACCADE_WEB
    {"page",
     run_page,
     {"hello 1 0123456789abcdef", "ack 7", "move 1 10.5 20", "press 2 1 2 0", "wheel 3 1 2 0 -1", "key 4 down a 1 KeyA",
      "key 5 up ArrowLeft 16 ArrowLeft", "paste 6 some text", "resize 7 1280 720 2", "seek 8 1.5", "step 9 -1",
      "set 10 view lod", "set 11 speed 2", "set 12 paused 1", "ask 13 line", "hidden 1", "take", "ping 17.25"}},
#endif
  };
  return all;
}

}  // namespace saccade::fuzz
