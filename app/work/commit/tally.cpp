#include "app/work/commit/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "app/counted.h"
#include "app/files/whole_file.h"
#include "app/json/json_file.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPeriod = std::chrono::seconds(10);

struct Metric {
  const char* name;
  const char* member;
  const char* help;
};
constexpr Metric kMetrics[] = {{"videos_in", "in", "items of the plan"},
                               {"videos_done", "done", "items done"},
                               {"videos_damaged", "damaged", "items done of which the input was damaged"},
                               {"videos_quarantined", "quarantined", "items quarantined"},
                               {"videos_duplicate", "duplicate", "rows that repeat others"},
                               {"videos_pending", "pending", "items to come"},
                               {"media_hours", "media_hours", "hours of video done"},
                               {"frames", "frames", "frames done"},
                               {"frames_per_second", "frames_per_s", "of this run"}};

}  // namespace

Json counts_json(const Counts& counts) {
  Json json = {{"in", counts.in},
               {"done", counts.done},
               {"damaged", counts.damaged},
               {"quarantined", counts.quarantined},
               {"duplicate", counts.duplicate},
               {"pending", counts.pending}};
  json["classes"] = Json::object();
  for (const auto& [kind, count] : counts.classes) json["classes"][kind] = count;
  json["media_s"] = counts.media_s;
  json["media_hours"] = counts.media_s / 3600;
  json["frames"] = counts.frames;
  return json;
}

std::string counts_line(const Counts& counts) {
  std::string classes;
  for (const auto& [kind, count] : counts.classes)
    classes += fmt::format("{}{} {}", classes.empty() ? " (" : ", ", count, kind);
  if (!classes.empty()) classes += ")";
  return fmt::format("{} in = {} done + {} damaged + {} quarantined{} + {} duplicate + {} pending", counts.in,
                     counts.done, counts.damaged, counts.quarantined, classes, counts.duplicate, counts.pending);
}

Tally::Tally(const Options& options, const Counts& begin)
    : options_(options), begin_(Clock::now()), next_(begin_ + kPeriod), at_begin_(begin), counts_(begin) {}

Json Tally::json() const {
  const double elapsed_s = std::max(std::chrono::duration<double>(Clock::now() - begin_).count(), 1e-6);
  const double worked_s = counts_.ended_s - at_begin_.ended_s;
  const double left_s = std::max(counts_.planned_s - counts_.ended_s, 0.0);
  Json json = counts_json(counts_);
  json["frames_per_s"] = static_cast<double>(counts_.frames - at_begin_.frames) / elapsed_s;
  json["eta_s"] = counts_.pending == 0 ? Json(0) : worked_s > 0 ? Json(elapsed_s * left_s / worked_s) : Json(nullptr);
  json["elapsed_s"] = elapsed_s;
  return json;
}

void Tally::report_if_due(const Counts& counts) {
  if (Clock::now() < next_) return;
  next_ = Clock::now() + kPeriod;
  counts_ = counts;
  report(false);
}

void Tally::finish(const Counts& counts) {
  counts_ = counts;
  report(true);
}

void Tally::report(bool last) {
  Json now = json();
  if (options_.progress == ProgressMode::kJson) {
    now["last"] = last;
    fmt::print(stderr, "{}\n", json_text(now, -1));
  } else if (options_.progress == ProgressMode::kAuto && !last) {
    const Json& eta = now.at("eta_s");
    fmt::print(stderr, "saccade: {} of {}, {:.2f} hours of video, {:.0f} frames/s, {} bad{}\n",
               counts_.in - counts_.pending, counted(counts_.in, "video"), counts_.media_s / 3600,
               now.at("frames_per_s").get<double>(), counts_.quarantined,
               eta.is_null() ? "" : fmt::format(", {:.0f} s left", eta.get<double>()));
  }
  if (!options_.work.metrics.empty()) write_metrics();
}

void Tally::write_metrics() const {
  const Json now = json();
  std::string text;
  for (const Metric& metric : kMetrics) {
    text += fmt::format("# HELP saccade_{} {}\n# TYPE saccade_{} gauge\nsaccade_{} {}\n", metric.name, metric.help,
                        metric.name, metric.name, json_text(now.at(metric.member), -1));
  }
  const std::string& path = options_.work.metrics;
  if (const int fault = replace_file(path, {text}); fault != 0) {
    throw Error(ErrorKind::kOutput, OfOption("metrics", path),
                fmt::format("could not be written: {}; give another name", std::strerror(fault)));
  }
}

}  // namespace saccade
