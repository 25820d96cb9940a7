#include "app/reconstruct/html_page.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <vector>

#include "app/files/whole_file.h"
#include "app/media/av.h"
#include "app/media/video_encoder.h"
#include "app/reconstruct/emission_painter.h"
#include "app/reconstruct/page_text.h"
#include "kernels/picture/paint.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::int64_t kMostEmissions = 1200;
constexpr std::int64_t kMostFilmBytes = 11'000'000, kMostOutlineBytes = 3'000'000;  // a third more as text
static_assert((kMostFilmBytes + kMostOutlineBytes) / 3 * 4 < kMostPageBytes);
constexpr int kMostWidth = 1280;

// A file that goes when this does.
struct TemporaryFile {
  explicit TemporaryFile(std::string name) : path(std::move(name)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  const std::string path;
};

std::string base64(std::span<const std::uint8_t> bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(), static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// At most `most` of `count`, evenly, the first and the last among them.
std::vector<std::int64_t> choose(std::int64_t count, std::int64_t most) {
  most = std::min(count, std::max<std::int64_t>(most, 1));
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < most; ++i) chosen.push_back(most == 1 ? 0 : i * (count - 1) / (most - 1));
  return chosen;
}

struct Film {
  std::vector<std::uint8_t> bytes;
  std::string type;
  PageFacts facts;
};

class Page {
 public:
  Page(const DumpReader& dump, std::string output, bool memory, std::function<bool()> stopped)
      : dump_(dump), output_(std::move(output)), memory_(memory), stopped_(std::move(stopped)) {}
  PageFacts write();

 private:
  Film film() const;
  Film film_of(const std::string& suffix, double shrink) const;
  nlohmann::ordered_json data() const;
  std::string outlines() const;
  void choose_emissions();

  const DumpReader& dump_;
  const std::string output_;
  const bool memory_;
  const std::function<bool()> stopped_;
  std::vector<std::int64_t> chosen_, times_ns_;  // emissions, and when they are shown from the first on, rising
};

// Fewer emissions rather than no outlines, as long as enough are left.
void Page::choose_emissions() {
  const std::int64_t outlined = kMostOutlineBytes / (dump_.facts().patches * 6);
  chosen_ = choose(dump_.emissions(), outlined >= 100 ? std::min(outlined, kMostEmissions) : kMostEmissions);
  for (const std::int64_t e : chosen_) times_ns_.push_back(dump_.index(e).pts_ns - dump_.index(chosen_.front()).pts_ns);
  make_rise(times_ns_);
}

Film Page::film_of(const std::string& suffix, double shrink) const {
  const TemporaryFile file(output_ + ".film" + suffix);
  const DumpFacts& facts = dump_.facts();
  const double scale = shrink * std::min(1.0, kMostWidth / (facts.width_px * std::max(facts.sar, 1.0)));
  EmissionPainter painter(dump_, displayed_size(facts.width_px, facts.height_px, facts.sar, scale), memory_);
  PreviewEncoder encoder(file.path, painter.width(), painter.height(), times_ns_, hold_ns(times_ns_));
  for (const std::int64_t e : chosen_) {
    if (stopped_()) throw Error(ErrorKind::kInterrupted, fmt::format("{}: interrupted; nothing was written", output_));
    encoder.add(painter.paint(e));
  }
  encoder.finish();
  return {read_file(file.path),
          suffix == ".mp4" ? "video/mp4" : "video/webm",
          {static_cast<std::int64_t>(chosen_.size()), painter.width(), painter.height(), encoder.encoder_name()}};
}

// As large as fits. Browsers play no MPEG-4 but H.264.
Film Page::film() const {
  std::string suffix = ".mp4";
  for (double shrink = 1;;) {
    Film film = film_of(suffix, shrink);
    if (film.facts.encoder == "mpeg4") film = film_of(suffix = ".webm", shrink);
    const double share = static_cast<double>(kMostFilmBytes) / static_cast<double>(film.bytes.size());
    if (share >= 1 || film.facts.width < 64) return film;
    shrink *= std::min(0.9 * std::sqrt(share), 0.8);
  }
}

// Of each patch u and v, -1 to 2 as 0 to 65535, and lod x 4096: little-endian; 65535 for one outside the frame.
std::string Page::outlines() const {
  std::vector<std::uint8_t> bytes;
  const auto put = [&](float value, float most) {
    const auto code = static_cast<std::uint16_t>(std::lround(std::clamp(value, 0.0f, most)));
    bytes.push_back(static_cast<std::uint8_t>(code & 0xff));
    bytes.push_back(static_cast<std::uint8_t>(code >> 8));
  };
  std::vector<Patch> patches;
  for (const std::int64_t e : chosen_) {
    dump_.patches(e, patches);
    for (const Patch& patch : patches) {
      put((patch.x_px / static_cast<float>(dump_.facts().width_px) + 1) / 3 * 65535, 65535);
      put((patch.y_px / static_cast<float>(dump_.facts().height_px) + 1) / 3 * 65535, 65535);
      put(patch.coverage > 0 ? std::min(patch.lod * 4096, 65534.0f) : 65535, 65535);
    }
    for (auto n = static_cast<std::int64_t>(patches.size()); n < dump_.facts().patches; ++n) {
      for (int i = 0; i < 3; ++i) put(65535, 65535);
    }
  }
  return base64(bytes);
}

nlohmann::ordered_json Page::data() const {
  const DumpFacts& facts = dump_.facts();
  nlohmann::ordered_json json{
      {"name", facts.input},          {"emissions", dump_.emissions()},
      {"complete", dump_.complete()}, {"width", facts.width_px},
      {"height", facts.height_px},    {"sar", facts.sar},
      {"patches", facts.patches},     {"patch_size", facts.patch_size},
      {"lattice", facts.lattice},     {"start", static_cast<double>(dump_.index(chosen_.front()).pts_ns) * 1e-9}};
  json["duration"] = static_cast<double>(times_ns_.back() + hold_ns(times_ns_)) * 1e-9;
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const DumpIndex row = dump_.index(chosen_[i]);
    json["emission"].push_back(chosen_[i]);
    json["t"].push_back(static_cast<double>(times_ns_[i]) * 1e-9);
    json["frame"].push_back(row.frame);
    json["u"].push_back(row.fix_u);
    json["v"].push_back(row.fix_v);
    json["flight"].push_back(row.in_flight ? 1 : 0);
    json["damaged"].push_back(row.damaged_tiles);
  }
  const std::int64_t outline_bytes = static_cast<std::int64_t>(chosen_.size()) * facts.patches * 6;
  json["outlines"] =
      outline_bytes <= kMostOutlineBytes ? nlohmann::ordered_json(outlines()) : nlohmann::ordered_json(nullptr);
  return json;
}

// "<" would end the script that holds it.
std::string script_safe(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  return json;
}

PageFacts Page::write() {
  choose_emissions();
  const Film made = film();
  const std::string json = script_safe(data().dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  const std::string film_head = fmt::format("data:{};base64,", made.type);
  const int fault = replace_file(output_, {kPageHead, json, kPageMiddle, film_head, base64(made.bytes), kPageEnd});
  if (fault != 0) fail_to_write(output_, fault, "choose another -o");
  return made.facts;
}

}  // namespace

PageFacts write_html_page(const DumpReader& dump, const std::string& output, bool memory,
                          const std::function<bool()>& stopped) {
  return Page(dump, output, memory, stopped).write();
}

}  // namespace saccade
