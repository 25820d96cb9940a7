// The command line and the TOML file, parsed into one plain struct that every command reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/enum_names.h"
#include "pipeline/options/stream_options.h"
#include "pipeline/views/views_choice.h"
#include "ui/picture/view_state.h"

namespace saccade {

enum class Command : std::uint8_t {
  kDump,
  kProfile,
  kInfo,
  kReconstruct,
  kView,
  kPlan,
  kWork,
  kStatus,
  kVerify,
  kGc,
  kRetry,
  kWorker,  // what `work` runs: not for people
};
inline constexpr EnumName<Command> kCommandNames[] = {
    {Command::kDump, "dump"},     {Command::kProfile, "profile"},
    {Command::kInfo, "info"},     {Command::kReconstruct, "reconstruct"},
    {Command::kView, "view"},     {Command::kPlan, "plan"},
    {Command::kWork, "work"},     {Command::kStatus, "status"},
    {Command::kVerify, "verify"}, {Command::kGc, "gc"},
    {Command::kRetry, "retry"},   {Command::kWorker, "worker"}};
constexpr std::span<const EnumName<Command>> names_of(Command) { return kCommandNames; }

enum class ProgressMode : std::uint8_t { kAuto, kNone, kJson };
inline constexpr EnumName<ProgressMode> kProgressModes[] = {
    {ProgressMode::kAuto, "auto"}, {ProgressMode::kNone, "none"}, {ProgressMode::kJson, "json"}};
constexpr std::span<const EnumName<ProgressMode>> names_of(ProgressMode) { return kProgressModes; }

struct DumpOptions {
  std::string output;  // -o
  bool overwrite = false;
  bool resume = false;
  bool hash_input = true;       // its SHA-256 into meta.json
  std::optional<bool> compact;  // without the patches outside the frame
};

// How many streams run side by side in a process.
struct JobsOption {
  bool is_auto = false;      // "auto" was said
  std::optional<int> count;  // none, and not auto: the command's own default
};

struct PlanOptions {
  std::string manifest;  // --manifest of dump; plan's INPUT
  std::optional<double> segment_s;
  double unit_s = 300;
  double unit_bytes = 1e9;
};

struct WorkOptions {
  std::string store;  // the INPUT of work, status, verify, gc and retry
  std::string shard;  // "i/n": where to begin; empty: at the first unit
  std::string engine = "work";
  double claim_s = 60;       // a process that gave no sign for so long is dead
  std::optional<int> cores;  // of all workers together; none: those that the process may use
  int workers_per_gpu = 1;
  std::vector<int> devices;  // a worker, or as many as that, for each; empty: the plan's
  double video_timeout_s = 60;
  double frame_timeout_s = 30;
  std::int64_t renew_after = 1000;
  std::optional<double> max_rss_mb;
  double max_bad_percent = 5;
  std::string gone;                    // keys of videos that are known to be gone: "k1,k2", or "all"
  std::string metrics;                 // a Prometheus text file
  std::string classes;                 // of retry: "io,timeout"; empty: all
  bool in_place = false;               // of retry: the same plan does these units again
  std::optional<std::int64_t> sample;  // of verify: so many units; none: all
  double older_than_s = 86400;         // of gc
  bool dry_run = false;                // of gc
};

struct InfoOptions {
  bool devices = false;  // --devices: list the cameras
};

struct ProfileOptions {
  std::optional<double> budget_ms;  // exit 3 when the p99 of the frame is over it
  std::string trace;                // --trace FILE
};

struct ReconstructOptions {
  std::string directory;                 // a dump
  std::string output;                    // out.mp4 or out.png
  std::string against;                   // --against VIDEO
  std::optional<std::int64_t> emission;  // which one a .png shows; default: the middle one
  bool memory = false;                   // what earlier emissions showed stays until it changes
  bool overwrite = false;
};

struct ViewOptions : ui::ViewSettings {
  int width_px = 1280;  // of the window
  int height_px = 720;
  double ui_scale = 1;
  bool offscreen = false;
  std::optional<std::string> serve;        // where to listen: "auto", ADDR:PORT, unix:PATH
  std::vector<std::string> serve_origins;  // whose pages may connect as well
  struct Screenshot {
    double t_s = 0;  // after the first frame
    std::string path;
  };
  std::vector<Screenshot> screenshots;
};

// What a stream is asked for (source.uri is filled per input), and what the program does with it.
struct Options : StreamOptions {
  Command command = Command::kDump;
  std::vector<std::string> inputs;
  std::string log_level = "info";
  ProgressMode progress = ProgressMode::kAuto;
  bool json = false;
  std::optional<ViewsChoice> views;  // dump: as files; view: their boxes
  JobsOption jobs;
  DumpOptions dump;
  PlanOptions plan;
  WorkOptions work;
  InfoOptions info;
  ProfileOptions profile;
  ReconstructOptions reconstruct;
  ViewOptions view;

  std::vector<std::string> warnings;  // what to log of the options that were given

  // Every option that shapes the result, under its command-line name, as text: for meta.json, --resume, --print-config.
  std::vector<std::pair<std::string, std::string>> in_force;
};

// Parses argv. Returns nullopt when the process should end with `exit_code` (help, version, --print-config: 0; a usage
// error: 2, after one line on stderr). Reads --config first; the command line wins.
std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code);

// Options of a run from texts that were recorded, as a plan's: parsed, checked and resolved as a command line's, for
// `dump`. Throws UsageError, and UnavailableError where the backend can't be used.
Options recorded_options(const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace saccade
