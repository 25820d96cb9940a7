#include "app/reconstruct/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/dump/dump_writer.h"
#include "kernels/picture/samples.h"
#include "kernels/pyramid_layout.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr const char* kLiveDescr = "[('captured_unix_ns','<i8'),('age_ns','<i8'),('gaps','<i4')]";
constexpr std::size_t kLiveBytes = 20;
constexpr const char *kMeta = "meta.json", *kManifest = "manifest.json", *kChanged = "changed.npy";

std::string in(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

const char* descr(SampleType type) {
  return type == SampleType::kU8 ? "'|u1'" : type == SampleType::kF16 ? "'<f2'" : "'<f4'";
}

SampleFormat parse_format(const nlohmann::json& meta) {
  SampleFormat format;
  const auto dtype = meta.at("dtype").get<std::string>();
  const auto type = from_name<SampleType>(dtype);
  if (!type) throw std::runtime_error("unknown dtype " + dtype);
  format.type = *type;
  format.mean = meta.at("mean").get<std::array<float, 3>>();
  const auto deviation = meta.at("std").get<std::array<float, 3>>();
  for (std::size_t c = 0; c < 3; ++c) format.inv_std[c] = 1.0f / deviation[c];
  return format;
}

DumpFacts parse_facts(const nlohmann::json& meta) {
  DumpFacts facts;
  facts.input = meta.at("input").at("name").get<std::string>();
  facts.uri = meta.at("input").value("uri", facts.input);
  const nlohmann::json& stream = meta.at("stream");
  facts.width_px = stream.at("width_px").get<int>();
  facts.height_px = stream.at("height_px").get<int>();
  facts.sar = stream.at("sar").get<double>();
  facts.live = stream.value("live", false);
  facts.compact = meta.value("compact", false);
  facts.patch_size = meta.at("patch_size").get<int>();
  facts.patches = meta.at("patches").get<std::int64_t>();
  facts.format = parse_format(meta);
  facts.lattice = meta.value("lattice", std::string());
  const nlohmann::json options = meta.value("options", nlohmann::json::object());
  facts.only_news = options.value("lattice", std::string()) == "adaptive";
  const nlohmann::json& fovea = meta.at("fovea");
  facts.fovea_unit = fovea.at("unit").get<std::string>();
  facts.fovea.m0 = fovea.at("m0").get<float>();
  facts.fovea.e0 = fovea.at("e0").get<float>();
  facts.fovea.unit_per_px_x = fovea.at("unit_per_px_x").get<float>();
  facts.fovea.unit_per_px_y = fovea.at("unit_per_px_y").get<float>();
  facts.fovea.max_lod = fovea.value("max_lod", static_cast<float>(kMaxLevels - 1));
  return facts;
}

DumpFacts read_facts(const std::string& directory) {
  const std::string path = in(directory, kMeta);
  if (!std::filesystem::is_directory(directory))
    throw InputError(fmt::format("{}: no such folder; give a folder that saccade dump wrote", directory));
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: no {} in it; give a folder that saccade dump wrote", directory, kMeta));
  try {
    DumpFacts facts = parse_facts(nlohmann::json::parse(file));
    facts.directory = directory;
    const bool sane =
        facts.width_px > 0 && facts.height_px > 0 && facts.patch_size > 0 && facts.patches > 0 && facts.sar > 0;
    if (!sane) throw std::runtime_error("a size in it is not above 0");
    return facts;
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: damaged: {}; dump the video again", path, error.what()));
  }
}

}  // namespace

bool may_be_dump(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::is_directory(name, ignored);
}

void make_rise(std::vector<std::int64_t>& times_ns) {
  for (std::size_t i = 1; i < times_ns.size(); ++i) times_ns[i] = std::max(times_ns[i], times_ns[i - 1] + 1);
}

std::int64_t hold_ns(const std::vector<std::int64_t>& times_ns) {
  constexpr std::int64_t kOfOneAlone_ns = 1'000'000'000;
  const auto steps = static_cast<std::int64_t>(times_ns.size()) - 1;
  return steps > 0 ? (times_ns.back() - times_ns.front()) / steps : kOfOneAlone_ns;
}

DumpReader::DumpReader(const std::string& directory)
    : facts_(read_facts(directory)),
      complete_(std::filesystem::exists(in(directory, kManifest))),
      patches_(in(directory, "patches.npy")),
      geometry_(in(directory, "geometry.npy")),
      index_(in(directory, "index.npy")) {
  const std::int64_t s = facts_.patch_size, n = facts_.patches;
  const std::vector<std::int64_t> of_emissions[] = {{-1, n, 3, s, s}, {-1, n, 4}},
                                  of_patches[] = {{-1, 3, s, s}, {-1, 4}};
  const auto& shapes = facts_.compact ? of_patches : of_emissions;
  patches_.require(descr(facts_.format.type), size_bytes(facts_.format.type), shapes[0]);
  geometry_.require("'<f4'", 4, shapes[1]);
  index_.require(index_descr(), kIndexBytes, std::array<std::int64_t, 1>{-1});
  if (const std::string path = in(directory, kChanged); std::filesystem::exists(path)) {
    const std::vector<std::int64_t> of_changes[] = {{-1, n}, {-1}};
    changed_.emplace(path);
    changed_->require("'|u1'", 1, of_changes[facts_.compact ? 1 : 0]);
  }
  emissions_ = facts_.compact ? index_.rows() : std::min({patches_.rows(), geometry_.rows(), index_.rows()});
  if (facts_.live) {
    live_.emplace(in(directory, "live.npy"));
    live_->require(kLiveDescr, kLiveBytes, std::array<std::int64_t, 1>{-1});
    emissions_ = std::min(emissions_, live_->rows());
  }
  if (facts_.compact) {
    open_compact(directory);
    return;
  }
  const bool equal = patches_.rows() == emissions_ && geometry_.rows() == emissions_ && index_.rows() == emissions_;
  if (complete_ && !equal) {
    throw InputError(fmt::format("{}: its arrays hold {}, {} and {} emissions; dump the video again", directory,
                                 patches_.rows(), geometry_.rows(), index_.rows()));
  }
}

void DumpReader::open_compact(const std::string& directory) {
  offsets_.emplace(in(directory, "offsets.npy"));
  offsets_->require("'<i8'", sizeof(std::int64_t), std::array<std::int64_t, 1>{-1});
  const bool any = offsets_->rows() > 0;
  emissions_ = std::max<std::int64_t>(std::min(emissions_, offsets_->rows() - 1), 0);
  const std::int64_t there = std::min(patches_.rows(), geometry_.rows());
  std::int64_t whole = 0;  // emissions of which all patches are there
  bool rising = !any || offset(0) == 0;
  for (std::int64_t e = 0; rising && e < emissions_; ++e) {
    const std::int64_t count = offset(e + 1) - offset(e);
    rising = count >= 0 && count <= facts_.patches;
    if (rising && offset(e + 1) <= there) whole = e + 1;
  }
  if (!rising) throw InputError(fmt::format("{}: damaged; dump the video again", offsets_->path()));
  const bool equal = any && whole == index_.rows() && whole == offsets_->rows() - 1 && offset(whole) == there &&
                     patches_.rows() == geometry_.rows();
  if (complete_ && !equal) {
    throw InputError(fmt::format("{}: its arrays hold {}, {} and {} emissions; dump the video again", directory, whole,
                                 index_.rows(), offsets_->rows() - 1));
  }
  emissions_ = whole;
}

std::int64_t DumpReader::offset(std::int64_t emission) const {
  return load<std::int64_t>(offsets_->row(emission).data());
}

std::span<const std::byte> DumpReader::of_emission(const NpyArray& array, std::int64_t emission) const {
  if (!offsets_) return array.row(emission);
  return array.rows(offset(emission), offset(emission + 1) - offset(emission));
}

DumpIndex DumpReader::index(std::int64_t emission) const {
  const std::byte* const row = index_.row(emission).data();
  const std::int32_t gaps = live_ ? load<std::int32_t>(live_->row(emission).data() + 16) : 0;
  const DumpIndex index{load<std::int64_t>(row),
                        load<std::int64_t>(row + 8),
                        load<float>(row + 16),
                        load<float>(row + 20),
                        row[24] != std::byte{0},
                        load<std::int32_t>(row + 25),
                        gaps};
  const bool sane = index.fix_u >= 0 && index.fix_u <= 1 && index.fix_v >= 0 && index.fix_v <= 1;
  if (!sane) throw InputError(fmt::format("{}: damaged at emission {}; dump the video again", index_.path(), emission));
  return index;
}

void DumpReader::patches(std::int64_t emission, std::vector<Patch>& out) const {
  const std::span<const std::byte> rows = of_emission(geometry_, emission);
  if (read_geometry(rows, facts_.width_px, facts_.height_px, out)) return;
  throw InputError(fmt::format("{}: damaged at emission {}; dump the video again", geometry_.path(), emission));
}

std::int64_t DumpReader::patch_count(std::int64_t emission) const {
  return offsets_ ? offset(emission + 1) - offset(emission) : facts_.patches;
}

// A run that was cut short may have written fewer of these than of the others.
std::optional<std::int64_t> DumpReader::changed(std::int64_t emission) const {
  const std::int64_t last = offsets_ ? offset(emission + 1) : emission + 1;
  if (!changed_ || last > changed_->rows()) return std::nullopt;
  const std::span<const std::byte> marks = of_emission(*changed_, emission);
  return std::count(marks.begin(), marks.end(), std::byte{1});
}

std::optional<DumpTotals> DumpReader::totals() const {
  std::ifstream file(in(facts_.directory, kManifest));
  if (!file) return std::nullopt;
  try {
    const nlohmann::json manifest = nlohmann::json::parse(file);
    const auto count = [&manifest](const char* key) { return manifest.at(key).get<std::int64_t>(); };
    return DumpTotals{count("frames"),         manifest.at("media_s").get<double>(),
                      count("tiles"),          count("damaged_tiles"),
                      count("bytes_uploaded"), count("bytes_full_upload")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void DumpReader::samples(std::int64_t emission, std::vector<float>& out) const {
  to_codes(of_emission(patches_, emission), facts_.patch_size, facts_.format, out);
}

}  // namespace saccade
