#include "pipeline/options/stream_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "pipeline/options/option_error.h"
#include "pipeline/options/table.h"

namespace saccade {
namespace {

std::vector<StreamOption> make_rows() {
  std::vector<StreamOption> rows;
  add_source_options(rows);
  add_pipeline_options(rows);
  const StreamOptions fresh;
  for (StreamOption& row : rows) {
    if (row.spec.default_text.empty()) row.spec.default_text = row.binding.print(fresh).value_or("");
  }
  return rows;
}

const StreamOption& row_named(std::string_view name) {
  if (const StreamOption* row = find_stream_option(name)) return *row;
  if (const std::string_view now = renamed_option(name); !now.empty())
    throw UsageError(fmt::format("unknown option '{}'; it is called '{}' now", name, now));
  std::vector<std::string_view> names;
  for (const StreamOption& row : stream_options()) {
    if (row.spec.instead.empty()) names.push_back(row.spec.name);
  }
  const std::string_view near = nearest_name(name, names);
  throw UsageError(near.empty() ? fmt::format("unknown option '{}'", name)
                                : fmt::format("unknown option '{}'; did you mean '{}'?", name, near));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::span<const StreamOption> stream_options() {
  static const std::vector<StreamOption> rows = make_rows();
  return rows;
}

const StreamOption* find_stream_option(std::string_view name) {
  for (const StreamOption& row : stream_options()) {
    if (row.spec.name == name) return &row;
  }
  return nullptr;
}

std::string_view renamed_option(std::string_view name) { return name == "min-pixels" ? "min-samples" : ""; }

std::string_view current_option(std::string_view recorded) {
  const std::string_view renamed = renamed_option(recorded);
  return renamed.empty() ? recorded : renamed;
}

void set_option(StreamOptions& options, std::string_view name, const std::string& text) {
  const StreamOption& row = row_named(name);
  try {
    row.binding.parse(row.spec, options, text);
  } catch (const UsageError& error) {
    throw OptionError(row.spec.name, error.what());
  }
}

std::optional<std::string> get_option(const StreamOptions& options, std::string_view name) {
  return row_named(name).binding.print(options);
}

double default_eye(FixationPolicy policy) { return policy == FixationPolicy::kFile ? 1 : 0; }

StreamOptions options_of(const PipelineConfig& config) {
  StreamOptions options;
  options.pipeline = config;
  options.lattice = options_of(config.lattice);
  if (options.lattice.eye == default_eye(config.scanpath.policy)) options.lattice.eye.reset();
  options.threshold_given = true;
  return options;
}

std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t least = misspelt.size() < 4 ? 2 : std::max<std::size_t>(misspelt.size() / 3, 2) + 1;  // and nearer
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(misspelt, name);
    const auto begins_alike = [&](std::string_view other) { return other.substr(0, 1) == misspelt.substr(0, 1); };
    const bool is_likelier = distance == least && !nearest.empty() && begins_alike(name) && !begins_alike(nearest);
    if (distance < least || is_likelier) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace saccade
