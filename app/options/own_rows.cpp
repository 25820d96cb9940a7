#include "app/options/own_rows.h"

#include <fmt/format.h>

#include <string_view>

#include "pipeline/error.h"
#include "pipeline/options/values.h"
#include "pipeline/views/crops.h"
#include "pipeline/views/token_rule.h"

namespace saccade {
namespace {

using K = ValueKind;
using Binding = OptionBinding<Options>;

void parse_vsync(const OptionSpec& spec, Options& o, const std::string& text) {
  o.view.vsync = parse_choice(spec, text) == "on";
}
std::optional<std::string> print_vsync(const Options& o) { return o.view.vsync ? "on" : "off"; }

void parse_compact(const OptionSpec&, Options& o, const std::string& text) { o.dump.compact = parse_flag(text); }
// Nothing where it is off: the records of other dumps stay what they were.
std::optional<std::string> print_compact(const Options& o) {
  return o.dump.compact ? std::optional<std::string>(print_flag(*o.dump.compact)) : std::nullopt;
}

std::string models() {
  std::string names;
  for (const NamedRule& row : named_rules()) names.append(names.empty() ? "" : "|").append(row.name);
  return names;
}

int whole(const std::string& text, int lo, int hi) {
  OptionSpec range;
  range.lo = lo;
  range.hi = hi;
  return static_cast<int>(parse_integer(range, text));
}

void parse_views(const OptionSpec&, Options& o, const std::string& text) {
  constexpr std::string_view kNewOnly = ":new-only";
  std::string rest = parse_text(text);
  ViewsChoice views;
  views.new_only = std::string_view(rest).ends_with(kNewOnly);
  if (views.new_only) rest.resize(rest.size() - kNewOnly.size());
  const std::size_t colon = rest.find(':');
  views.model = rest.substr(0, colon);
  if (find_rule(views.model) == nullptr) {
    throw UsageError("'" + views.model + "' is not " + or_list(models()) + ", or one of these, :TOKENS and :new-only");
  }
  if (colon != std::string::npos) views.tokens = whole(rest.substr(colon + 1), 1, 1 << 30);
  if (const int least = least_tokens(find_rule(views.model)->rule); views.tokens < least) {
    throw UsageError(
        fmt::format("{} tokens are too few for a picture; give {}:{} or more", views.tokens, views.model, least));
  }
  o.views = std::move(views);
}
// Nothing without them, as of `compact`.
std::optional<std::string> print_views(const Options& o) {
  if (!o.views) return std::nullopt;
  return fmt::format("{}:{}{}", o.views->model, o.views->tokens, o.views->new_only ? ":new-only" : "");
}

void parse_view(const OptionSpec&, Options& o, const std::string& text) {
  const std::size_t colon = parse_text(text).find(':');
  const auto view = from_name<ui::View>(text.substr(0, colon));
  const auto more = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool is_level = view == ui::View::kLevel && !more.empty();
  const auto lattice = view == ui::View::kCompare ? from_name<LatticeKind>(more) : std::nullopt;
  const bool comparable = lattice && lattice != LatticeKind::kAdaptive;  // its patches follow from what was sent
  if (!view || (colon != std::string::npos && !is_level && !comparable)) {
    throw UsageError("'" + text +
                     "' is not frame, held, error, weights, foveated, level:N, lod, damage, patches, split or "
                     "compare:LATTICE");
  }
  if (is_level) o.view.level = whole(more, 0, 99);
  o.view.view = *view;
  if (lattice) o.view.compare = *lattice;
}
std::optional<std::string> print_view(const Options& o) {
  if (o.view.view == ui::View::kLevel) return fmt::format("{}:{}", name(o.view.view), o.view.level);
  if (o.view.view == ui::View::kCompare) return fmt::format("{}:{}", name(o.view.view), name(o.view.compare));
  return name(o.view.view);
}

// What --show lists.
struct Shown {
  const char* name;
  bool ViewOptions::*wanted;
};
constexpr Shown kShown[] = {{"panel", &ViewOptions::overlay},
                            {"marks", &ViewOptions::marks},
                            {"outlines", &ViewOptions::outlines},
                            {"scanpath", &ViewOptions::scanpath}};

void parse_show(const OptionSpec&, Options& o, const std::string& text) {
  ViewOptions view = o.view;
  view.overlay = view.marks = view.outlines = view.scanpath = false;
  for (const auto& piece : parse_text(text) == "none" ? std::vector<std::string>{} : split(text, ',')) {
    bool known = false;
    for (const Shown& shown : kShown) {
      if (piece != shown.name) continue;
      view.*shown.wanted = known = true;
    }
    if (!known) throw UsageError("'" + piece + "' is not panel, marks, outlines, scanpath or none");
  }
  o.view = view;
}
std::optional<std::string> print_show(const Options& o) {
  std::string list;
  for (const Shown& shown : kShown) {
    if (o.view.*shown.wanted) list.append(list.empty() ? "" : ",").append(shown.name);
  }
  return list.empty() ? "none" : list;
}

void parse_size(const OptionSpec&, Options& o, const std::string& text) {
  const auto pieces = split(parse_text(text), 'x');
  if (pieces.size() != 2) throw UsageError("'" + text + "' is not WxH");
  const int width_px = whole(pieces[0], 16, 16384);
  o.view.height_px = whole(pieces[1], 16, 16384);
  o.view.width_px = width_px;
}
std::optional<std::string> print_size(const Options& o) {
  return fmt::format("{}x{}", o.view.width_px, o.view.height_px);
}

void parse_screenshots(const OptionSpec&, Options& o, const std::string& text) {
  std::vector<ViewOptions::Screenshot> shots;
  for (const auto& line : split(parse_text(text), '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || equals + 1 == line.size())
      throw UsageError("'" + line + "' is not T=FILE.png with T in seconds, as 2.5=shot.png");
    OptionSpec seconds;
    seconds.hi = 1e9;
    shots.push_back({parse_number(seconds, line.substr(0, equals)), line.substr(equals + 1)});
  }
  o.view.screenshots = std::move(shots);
}
std::optional<std::string> print_screenshots(const Options& o) {
  std::string lines;
  for (const auto& shot : o.view.screenshots) {
    lines += fmt::format("{}{}={}", lines.empty() ? "" : "\n", shot.t_s, shot.path);
  }
  return lines.empty() ? std::nullopt : std::optional(lines);
}

void parse_jobs(const OptionSpec& spec, Options& o, const std::string& text) {
  const auto count = parse_word_or_integer(spec, text);
  o.jobs.is_auto = !count;
  o.jobs.count = count ? std::optional(static_cast<int>(*count)) : std::nullopt;
}
std::optional<std::string> print_jobs(const Options& o) {
  return o.jobs.is_auto ? std::optional<std::string>("auto") : print_value(o.jobs.count);
}

void parse_classes(const OptionSpec&, Options& o, const std::string& text) {
  OptionSpec one;
  one.choices = "input|options|missing|changed|io|timeout|crash|hwdec_unsupported|unexpected";
  for (const std::string& word : split(parse_text(text), ',')) parse_choice(one, word);
  o.work.classes = text;
}
std::optional<std::string> print_classes(const Options& o) { return print_value(o.work.classes); }

void parse_serve(const OptionSpec&, Options& o, const std::string& text) { o.view.serve = parse_text(text); }
std::optional<std::string> print_serve(const Options& o) { return o.view.serve; }

void parse_serve_origins(const OptionSpec&, Options& o, const std::string& text) {
  o.view.serve_origins = split(parse_text(text), '\n');
}
std::optional<std::string> print_serve_origins(const Options& o) {
  if (o.view.serve_origins.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(o.view.serve_origins, "\n"));
}

// Read before the others are: it has no value of its own.
constexpr Binding kNoValue{};

// clang-format off
std::vector<OwnRow> view_rows() {
  return {
    {{{.name = "view", .group = kViewGroup, .help = "frame, held, error, weights, foveated, level:N, lod, damage, patches, split or compare[:LATTICE]",
       .more = "`held`, `error` and `weights` need {lattice} adaptive: the receiver's picture, how far it is from the frame, and what an error there weighs. `compare`: the frame, its patches, and as many patches of another lattice, `uniform` by default, side by side. Of a dump there are `frame`, `level:N` and `lod`.",
       .metavar = "NAME"}, {parse_view, print_view}}, {.commands = kForView}},
    {{{.name = "show", .group = kViewGroup, .help = "what is drawn over the picture: panel, marks, outlines, scanpath, or none",
       .metavar = "LIST"}, {parse_show, print_show}}, {.commands = kForView}},
    {{{.name = "size", .group = kViewGroup, .help = "the window's size in pixels", .more = "On a screen that is scaled the window is larger by as much.",
       .metavar = "WxH"}, {parse_size, print_size}}, {.commands = kForView}},
    {{{.name = "ui-scale", .group = kViewGroup, .help = "how large text and controls are, on top of the screen's own scale",
       .metavar = "X", .kind = K::kNumber, .lo = 0.5, .hi = 4}, field([](auto& o) -> auto& { return o.view.ui_scale; })}, {.commands = kForView}},
    {{{.name = "speed", .group = kViewGroup, .help = "how fast the video plays",
       .metavar = "X", .kind = K::kNumber, .lo = 0.1, .hi = 16}, field([](auto& o) -> auto& { return o.view.speed; })}, {.commands = kForView}},
    {{{.name = "pause", .group = kViewGroup, .help = "stand still on the first frame",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.view.paused; })}, {.commands = kForView}},
    {{{.name = "vsync", .group = kViewGroup, .help = "the window waits for the screen's refresh", .more = "The key `v` switches it while it plays.",
       .metavar = "on|off", .kind = K::kChoice, .choices = "on|off"}, {parse_vsync, print_vsync}}, {.commands = kForView}},
    {{{.name = "offscreen", .group = kViewGroup, .help = "no window: only the pictures of {screenshot}",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.view.offscreen; })}, {.commands = kForView, .in_config = false}},
    {{{.name = "serve", .group = kViewGroup, .help = "no window: a page for a browser, here or over SSH (docs/REMOTE.md)",
       .more = "Without a value, or with `auto`: 127.0.0.1:7373, or a free port if that is taken. $SACCADE_TOKEN is its token (default: a random one).",
       .metavar = "ADDR:PORT|unix:PATH"}, {parse_serve, print_serve}}, {.commands = kForView, .bare = "auto"}},
    {{{.name = "serve-origin", .group = kViewGroup, .help = "pages of this origin may connect to {serve} as well: that of a proxy, as https://hub.example; may be repeated",
       .metavar = "ORIGIN"}, {parse_serve_origins, print_serve_origins}}, {.commands = kForView, .repeats = true}},
    {{{.name = "screenshot", .group = kViewGroup, .help = "the picture T seconds after the first frame; may be repeated",
       .metavar = "T=FILE.png"}, {parse_screenshots, print_screenshots}}, {.commands = kForView, .repeats = true, .in_config = false}},
  };
}

std::vector<OwnRow> run_rows() {
  return {
    {{{.name = "devices", .group = kRunGroup, .help = "list the cameras with their formats, sizes and rates, and what of the screen can be captured",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.info.devices; })}, {.commands = kForInfo, .in_config = false}},
    {{{.name = "budget-ms", .group = kRunGroup, .help = "exit 3 when the p99 of a frame is over this (default: only compare it with 33.3)",
       .metavar = "MS", .kind = K::kNumber, .lo = 1e-6, .hi = 1e6}, field([](auto& o) -> auto& { return o.profile.budget_ms; })}, {.commands = kForProfile}},
    {{{.name = "trace", .group = kRunGroup, .help = "write the stages' times for Perfetto",
       .metavar = "FILE"}, field([](auto& o) -> auto& { return o.profile.trace; })}, {.commands = kForProfile}},
    {{{.name = "against", .group = kRunGroup, .help = "compare with the video the dump was made of: PSNR in the fovea and over the frame",
       .metavar = "VIDEO"}, field([](auto& o) -> auto& { return o.reconstruct.against; })}, {.commands = kForReconstruct}},
    {{{.name = "emission", .group = kRunGroup, .help = "which emission a .png shows, from 0 (default: the middle one)",
       .metavar = "N", .kind = K::kInteger, .lo = 0, .hi = kMany}, field([](auto& o) -> auto& { return o.reconstruct.emission; })}, {.commands = kForReconstruct}},
    {{{.name = "memory", .group = kRunGroup, .help = "what earlier emissions showed finer stays in the picture until it changes",
       .more = "Always so of a dump of lattice `adaptive`.",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.reconstruct.memory; })}, {.commands = kForReconstruct}},
  };
}

constexpr unsigned kForPlans = kForPlan | kForDump;

std::vector<OwnRow> plan_rows() {
  return {
    {{{.name = "manifest", .group = kManyGroup, .help = "the inputs stand in this file: {output} becomes a store, as by `plan` and `work`",
       .metavar = "FILE"}, field([](auto& o) -> auto& { return o.plan.manifest; })}, {.commands = kForDump, .in_config = false}},
    {{{.name = "segment", .group = kManyGroup, .help = "cut longer videos into pieces of S seconds",
       .metavar = "S", .kind = K::kNumber, .lo = 0.001, .hi = 1e9}, field([](auto& o) -> auto& { return o.plan.segment_s; })}, {.commands = kForPlans}},
    {{{.name = "unit-seconds", .group = kManyGroup, .help = "a unit of work holds about so many seconds of video",
       .metavar = "S", .kind = K::kNumber, .lo = 0.001, .hi = 1e9}, field([](auto& o) -> auto& { return o.plan.unit_s; })}, {.commands = kForPlans}},
    {{{.name = "unit-bytes", .group = kManyGroup, .help = "a unit of work ends after about so many bytes of patches, too",
       .metavar = "N", .kind = K::kNumber, .lo = 1, .hi = 1e15}, field([](auto& o) -> auto& { return o.plan.unit_bytes; })}, {.commands = kForPlans}},
  };
}

std::vector<OwnRow> work_rows() {
  return {
    {{{.name = "jobs", .group = kManyGroup, .help = "how many videos run side by side in a process (default: `dump` 1, `work` auto)",
       .more = "`auto`: on the CPU one a core, with backend `cuda` 16.",
       .metavar = "N|auto", .kind = K::kWordOrInteger, .choices = "auto", .lo = 1, .hi = 256}, {parse_jobs, print_jobs}}, {.commands = kForDump | kForWork}},
    {{{.name = "shard", .group = kManyGroup, .help = "begin at the I-th of N parts of the units, from 0",
       .more = "A hint: each process does whatever is left, wherever it begins.",
       .metavar = "I/N"}, field([](auto& o) -> auto& { return o.work.shard; })}, {.commands = kForDump | kForWork}},
    {{{.name = "claim-seconds", .group = kManyGroup, .help = "take over the units of a process that gave no sign for so long",
       .metavar = "S", .kind = K::kNumber, .lo = 0.1, .hi = 1e6}, field([](auto& o) -> auto& { return o.work.claim_s; })}, {.commands = kForWork}},
    {{{.name = "engine", .group = kManyGroup, .help = "who placed the work: stands in the markers",
       .metavar = "NAME"}, field([](auto& o) -> auto& { return o.work.engine; })}, {.commands = kForWork}},
    {{{.name = "cores", .group = kManyGroup, .help = "how many cores to use (default: those that the process may use)",
       .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = 4096}, field([](auto& o) -> auto& { return o.work.cores; })}, {.commands = kForWork}},
    {{{.name = "workers-per-gpu", .group = kManyGroup, .help = "worker processes a device; more of them isolate better",
       .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = 64}, field([](auto& o) -> auto& { return o.work.workers_per_gpu; })}, {.commands = kForWork}},
    {{{.name = "gpus", .group = kManyGroup, .help = "the CUDA devices to use, as 0,1 (default: the plan's)",
       .metavar = "LIST", .kind = K::kIntegers, .lo = 0, .hi = 63}, field([](auto& o) -> auto& { return o.work.devices; })}, {.commands = kForWork}},
    {{{.name = "video-timeout", .group = kManyGroup, .help = "a video may take so long, or 20 times what it should",
       .metavar = "S", .kind = K::kNumber, .lo = 0.001, .hi = 1e9}, field([](auto& o) -> auto& { return o.work.video_timeout_s; })}, {.commands = kForWork}},
    {{{.name = "frame-timeout", .group = kManyGroup, .help = "the longest time without a frame",
       .metavar = "S", .kind = K::kNumber, .lo = 0.001, .hi = 1e9}, field([](auto& o) -> auto& { return o.work.frame_timeout_s; })}, {.commands = kForWork}},
    {{{.name = "renew-after", .group = kManyGroup, .help = "a worker is replaced after so many videos",
       .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = 1e12}, field([](auto& o) -> auto& { return o.work.renew_after; })}, {.commands = kForWork}},
    {{{.name = "max-rss", .group = kManyGroup, .help = "or when it holds so many megabytes",
       .metavar = "MB", .kind = K::kNumber, .lo = 1, .hi = 1e9}, field([](auto& o) -> auto& { return o.work.max_rss_mb; })}, {.commands = kForWork}},
    {{{.name = "max-bad", .group = kManyGroup, .help = "stop when more than so many percent of all that ended were quarantined, of 100 and more",
       .metavar = "PERCENT", .kind = K::kNumber, .lo = 0, .hi = 100}, field([](auto& o) -> auto& { return o.work.max_bad_percent; })}, {.commands = kForWork}},
    {{{.name = "gone", .group = kManyGroup, .help = "these videos no longer exist: they are quarantined even if nothing of their folder can be read; `all`: whatever is missing",
       .metavar = "KEY,KEY"}, field([](auto& o) -> auto& { return o.work.gone; })}, {.commands = kForWork}},
    {{{.name = "metrics", .group = kManyGroup, .help = "a text file for Prometheus, written every 10 s",
       .metavar = "FILE"}, field([](auto& o) -> auto& { return o.work.metrics; })}, {.commands = kForWork}},
    {{{.name = "class", .group = kManyGroup, .help = "only these of the classes input, options, missing, changed, io, timeout, crash, hwdec_unsupported and unexpected",
       .metavar = "LIST"}, {parse_classes, print_classes}}, {.commands = kForRetry, .in_config = false}},
    {{{.name = "in-place", .group = kManyGroup, .help = "make no other plan: `work` does the units with such videos again",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.work.in_place; })}, {.commands = kForRetry, .in_config = false}},
    {{{.name = "sample", .group = kManyGroup, .help = "read only so many units, others each time",
       .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = 1e12}, field([](auto& o) -> auto& { return o.work.sample; })}, {.commands = kForVerify, .in_config = false}},
    {{{.name = "older-than", .group = kManyGroup, .help = "leave what was written to in the last S seconds",
       .metavar = "S", .kind = K::kNumber, .lo = 0, .hi = 1e9}, field([](auto& o) -> auto& { return o.work.older_than_s; })}, {.commands = kForGc}},
    {{{.name = "dry-run", .group = kManyGroup, .help = "remove nothing; print what would be removed",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.work.dry_run; })}, {.commands = kForGc, .in_config = false}},
  };
}

std::vector<OwnRow> everyones_rows() {
  return {
    {{{.name = "log-level", .group = kRunGroup, .help = "trace, debug, info, warn, error or off",
       .metavar = "LEVEL", .kind = K::kChoice, .choices = "trace|debug|info|warn|error|off"}, field([](auto& o) -> auto& { return o.log_level; })}, {}},
    {{{.name = "progress", .group = kRunGroup, .help = "on stderr: auto (a line, on a terminal), none or json",
       .metavar = "MODE", .kind = K::kChoice, .choices = choices_of<ProgressMode>()}, field([](auto& o) -> auto& { return o.progress; })}, {.commands = kForDump | kForWork}},
    {{{.name = "json", .group = kRunGroup, .help = "the result on stdout as JSON",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.json; })}, {}},
    {{{.name = "config", .group = kRunGroup, .help = "read options from a TOML file; the command line wins",
       .metavar = "FILE"}, kNoValue}, {.in_config = false}},
    {{{.name = "set", .group = kRunGroup, .help = "a setting (docs/OPTIONS.md lists them), or any option by its name; may be repeated",
       .metavar = "NAME=VALUE"}, kNoValue}, {.repeats = true, .in_config = false}},
    {{{.name = "print-config", .group = kRunGroup, .help = "write the options in force as TOML and end",
       .kind = K::kFlag}, kNoValue}, {.in_config = false}},
  };
}

std::vector<OwnRow> result_rows_unset() {
  return {
    {{{.name = "output", .group = kOutputGroup, .help = "where the result goes: a folder (dump), a .mp4, .html or .png (reconstruct), a store (plan, retry)",
       .metavar = "PATH"}, field([](auto& o) -> auto& { return o.dump.output; })}, {.commands = kForDump | kForReconstruct | kForPlan | kForRetry, .short_name = "o"}},
    {{{.name = "overwrite", .group = kOutputGroup, .help = "replace an existing result",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.dump.overwrite; })}, {.commands = kForDump | kForReconstruct}},
    {{{.name = "compact", .group = kOutputGroup, .help = "leave out the patches outside the frame: ragged arrays, and offsets.npy says where each emission begins",
       .kind = K::kFlag, .shapes_result = true}, {parse_compact, print_compact}}, {.commands = kForDump}},
    {{{.name = "views", .group = kOutputGroup, .help = "also pictures that a model reads: MODEL[:TOKENS][:new-only], such as qwen2.5-vl:1200; `view` draws their boxes",
       .more = "At most 1568 tokens of a look by default; :new-only spends none on detail that was never sent. [MODELS.md](MODELS.md) lists the models. `dump` writes PNG files in views/, and a line of JSON for each in views.jsonl.",
       .metavar = "MODEL", .shapes_result = true}, {parse_views, print_views}}, {.commands = kForDump | kForView}},
    {{{.name = "resume", .group = kOutputGroup, .help = "skip a complete dump of the same input and options, redo an incomplete one",
       .kind = K::kFlag}, field([](auto& o) -> auto& { return o.dump.resume; })}, {.commands = kForDump}},
  };
}
// clang-format on

// Defaults are what the structs are born with.
std::vector<OwnRow> with_defaults(std::vector<OwnRow> rows) {
  const Options fresh;
  for (OwnRow& own : rows) {
    if (own.row.binding.print != nullptr) own.row.spec.default_text = own.row.binding.print(fresh).value_or("");
  }
  return rows;
}

}  // namespace

std::vector<OwnRow> result_rows() { return with_defaults(result_rows_unset()); }

std::vector<OwnRow> command_rows() {
  std::vector<OwnRow> rows = run_rows();
  for (auto* more : {&plan_rows, &work_rows, &view_rows, &everyones_rows}) {
    for (OwnRow& row : more()) rows.push_back(std::move(row));
  }
  return with_defaults(std::move(rows));
}

}  // namespace saccade
