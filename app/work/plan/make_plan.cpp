#include "app/work/plan/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>

#include "app/files/input_identity.h"
#include "app/files/read_file.h"
#include "app/work/plan/input_facts.h"
#include "app/work/plan/manifest.h"
#include "app/work/plan/manifest_copy.h"
#include "app/work/plan/plan_facts.h"
#include "app/work/plan/plan_writer.h"
#include "app/work/plan/probe.h"
#include "app/work/plan/trial.h"
#include "pipeline/error.h"
#include "pipeline/options/resolve.h"
#include "pipeline/secrets.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

constexpr double kUnknown_s = 60;        // of what is no file here
constexpr double kBytesASecond = 250e3;  // of a file of unknown length: 2 Mbit/s
// A member of a tar has a name of at most 100 bytes: the key, "-00000" and the longest suffix, ".damaged_tiles.npy".
constexpr std::size_t kMostKeyOfPieces = 76;
constexpr std::int64_t kLeastPiece_ns = 1'000'000'000;
constexpr double kFramesASecond = 30;

// A row or a piece, without its texts: they are read again when it is written.
struct Entry {
  std::size_t key = 0;  // its hash
  RowSpan span;
  std::int64_t row = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = -1;  // -1: none
  double media_s = 0;
  int piece = 0, pieces = 1;
};

WorkItem item_of(const ManifestRow& row, const Entry& entry) {
  WorkItem item;
  item.uri = row.uri;
  item.start_ns = entry.start_ns;
  if (entry.end_ns >= 0) item.end_ns = entry.end_ns;
  item.stream = row.stream;
  item.row = entry.row;
  item.piece = entry.piece;
  item.pieces = entry.pieces;
  item.media_s = entry.media_s;
  item.extra = row.extra;
  item.key = row.key;
  if (item.key.empty())
    item.key = default_key(item);
  else if (entry.pieces > 1)
    item.key += fmt::format("-{:05}", entry.piece);
  return item;
}

// What is known of a length without opening the video; none: an estimate will do.
std::optional<double> known_length_s(const ManifestRow& row) {
  const auto end_ns = row.end_ns ? row.end_ns : row.duration_ns;
  if (!end_ns) return std::nullopt;
  return std::max(static_cast<double>(*end_ns - row.start_ns) / 1e9, 0.0);
}

double estimated_s(const ManifestRow& row) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(row.uri, error);
  return error ? kUnknown_s : std::max(static_cast<double>(bytes) / kBytesASecond, 0.1);
}

class Planner {
 public:
  Planner(const Options& options, Manifest& manifest) : options_(options), manifest_(manifest) {}

  void read() {
    RowSpan span;
    while (manifest_.next(span)) add(span);
    if (rows_ == 0) throw InputError(fmt::format("{}: holds no row; give a uri a line", manifest_.path()));
    add_probed();
    drop_duplicates();
  }
  // Longer ones first, so that none is left alone at the end.
  void write(PlanWriter& writer) {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      if (a.media_s != b.media_s) return a.media_s > b.media_s;
      return a.row != b.row ? a.row < b.row : a.piece < b.piece;
    });
    for (const Entry& entry : entries_) {
      WorkItem item = item_of(manifest_.row(entry.span), entry);
      item.input = input_facts(item.uri, item.extra);
      writer.add(item);
    }
  }
  // Some from all over, that FFmpeg opens, for the trial of the options. After read().
  std::vector<WorkItem> sample(std::size_t count) const {
    std::vector<WorkItem> items;
    const std::size_t wanted = std::min(count, entries_.size());
    for (std::size_t i = 0; i < wanted; ++i) {
      const Entry& entry = entries_[(2 * i + 1) * entries_.size() / (2 * wanted)];
      WorkItem item = item_of(manifest_.row(entry.span), entry);
      if (!is_fetched(item.uri)) items.push_back(std::move(item));
    }
    return items;
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t duplicates() const { return duplicates_; }
  std::int64_t uncut() const { return uncut_; }

 private:
  void add(const RowSpan& span) {
    const ManifestRow row = manifest_.row(span);
    const std::int64_t index = rows_++;
    const auto length_s = known_length_s(row);
    if (!options_.plan.segment_s)
      return push(row, {.span = span,
                        .row = index,
                        .start_ns = row.start_ns,
                        .end_ns = row.end_ns.value_or(-1),
                        .media_s = length_s ? *length_s : estimated_s(row)});
    if (row.key.size() > kMostKeyOfPieces) {
      manifest_.refuse(span, fmt::format("key '{}': has {} characters; with --segment a key has at most {}", row.key,
                                         row.key.size(), kMostKeyOfPieces));
    }
    if (length_s) return cut(row, span, index, *length_s);
    unprobed_.push_back({span, index});
    uris_.push_back(row.uri);
  }

  void add_probed() {
    const auto lengths = probe_lengths(options_, uris_);
    for (std::size_t i = 0; i < unprobed_.size(); ++i) {
      const auto& [span, index] = unprobed_[i];
      if (!lengths[i]) ++uncut_;
      const ManifestRow row = manifest_.row(span);
      const double start_s = static_cast<double>(row.start_ns) / 1e9;
      cut(row, span, index, lengths[i] ? std::max(*lengths[i] - start_s, 0.0) : 0);
    }
  }

  // A rest of less than a second belongs to the piece before it: the sound may be that much longer than the picture.
  void cut(const ManifestRow& row, const RowSpan& span, std::int64_t index, double length_s) {
    const std::int64_t step_ns = std::llround(*options_.plan.segment_s * 1e9);
    const std::int64_t length_ns = std::llround(length_s * 1e9);
    const std::int64_t least_ns = std::min(kLeastPiece_ns, step_ns / 2);
    const bool exact = row.end_ns.has_value();
    const std::int64_t count = (length_ns + step_ns - (exact ? 1 : least_ns)) / step_ns;
    const int pieces = static_cast<int>(std::clamp<std::int64_t>(count, 1, 99'999));
    for (int piece = 0; piece < pieces; ++piece) {
      Entry entry{
          .span = span, .row = index, .start_ns = row.start_ns + piece * step_ns, .piece = piece, .pieces = pieces};
      const bool last = piece + 1 == pieces;
      entry.end_ns = last ? row.end_ns.value_or(-1) : entry.start_ns + step_ns;
      entry.media_s = static_cast<double>(last ? length_ns - piece * step_ns : step_ns) / 1e9;
      if (length_ns == 0) entry.media_s = estimated_s(row);
      push(row, entry);
    }
  }

  void push(const ManifestRow& row, Entry entry) {
    entry.key = std::hash<std::string>{}(item_of(row, entry).key);
    entries_.push_back(entry);
  }

  void drop_duplicates() {
    const auto earlier = [](const Entry& a, const Entry& b) {
      if (a.key != b.key) return a.key < b.key;
      return a.row != b.row ? a.row < b.row : a.piece < b.piece;
    };
    std::sort(entries_.begin(), entries_.end(), earlier);
    const auto same = [this](const Entry& a, const Entry& b) {
      if (a.key != b.key) return false;
      const WorkItem first = item_of(manifest_.row(a.span), a), second = item_of(manifest_.row(b.span), b);
      if (first.key != second.key) return false;
      if (item_identity(first) == item_identity(second)) return true;
      manifest_.refuse(b.span, fmt::format("key '{}': line {} gives it to something else; keys must differ", second.key,
                                           a.span.line));
    };
    const std::size_t before = entries_.size();
    entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
    duplicates_ = static_cast<std::int64_t>(before - entries_.size());
  }

  struct Unprobed {
    RowSpan span;
    std::int64_t row;
  };
  const Options& options_;
  Manifest& manifest_;
  std::vector<Entry> entries_;
  std::vector<Unprobed> unprobed_;
  std::vector<std::string> uris_;
  std::int64_t rows_ = 0;
  std::int64_t duplicates_ = 0;
  std::int64_t uncut_ = 0;
};

double patch_bytes_per_s(const Options& options) {
  const EmitPolicy& emit = options.pipeline.emit;
  const double rate = emit.kind == EmitPolicy::Kind::kFixation
                          ? options.pipeline.scanpath.rate_hz
                          : kFramesASecond / static_cast<double>(emit.every_frames);
  const double patches = patches_asked(options.pipeline.lattice).value_or(kDefaultTokens);
  return rate * patches * 3 * options.lattice.patch_size * options.lattice.patch_size *
         static_cast<double>(size_bytes(options.pipeline.samples.type));
}

Plan same_plan(Store& store, const Json& wanted) {
  Plan plan(store);
  const std::string differs = plan_difference(plan.facts(), wanted);
  if (differs.empty()) return plan;
  throw UsageError(OfOption("output", store.place()),
                   fmt::format("holds another plan ({}); choose another -o, or the options of that plan", differs));
}

}  // namespace

void refuse_other_folder(Store& store) {
  std::error_code ignored;
  const std::string& place = store.place();
  if (!store.is_folder() || !is_there(place)) return;
  if (!std::filesystem::is_directory(place, ignored))
    throw UsageError(OfOption("output", place), "is a file; a store needs a folder");
  for (const std::string& name : list_folder(place).value_or(std::vector<std::string>{})) {
    if (name.starts_with("plan")) continue;
    if (Plan::exists(store) || Plan::is_empty(store)) return;  // another run has planned, and works already
    throw UsageError(OfOption("output", place),
                     "the folder holds other things than a store and is left alone; choose another -o");
  }
}

PlanOutcome make_plan(const Options& options, Store& store) {
  const ManifestCopy copy(options.plan.manifest);
  Manifest manifest(masked_uri(options.plan.manifest), copy.path());
  Json facts = plan_facts(options, manifest);
  if (Plan::exists(store)) return {same_plan(store, facts), false};
  refuse_other_folder(store);
  check_names(options.source);
  check_files(options);
  Planner planner(options, manifest);
  planner.read();
  try_options(options, facts, planner.sample(kTrialVideos));
  const double bytes_per_s = patch_bytes_per_s(options);
  PlanWriter writer(store, options.plan.unit_s, options.plan.unit_bytes, bytes_per_s);
  planner.write(writer);
  facts["manifest"]["rows"] = planner.rows();
  facts["duplicates"] = planner.duplicates();
  facts["bytes_per_s"] = bytes_per_s;
  const bool made = writer.finish(facts);
  return {made ? Plan(store) : same_plan(store, facts), made, planner.uncut()};
}

}  // namespace saccade
