// The command line and the TOML file, parsed into one plain struct that every command reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/enum_names.h"
#include "pipeline/options/stream_options.h"
#include "ui/picture/view.h"

namespace saccade {

enum class Command : std::uint8_t { kDump, kProfile, kInfo, kReconstruct, kView };
inline constexpr EnumName<Command> kCommandNames[] = {{Command::kDump, "dump"},
                                                      {Command::kProfile, "profile"},
                                                      {Command::kInfo, "info"},
                                                      {Command::kReconstruct, "reconstruct"},
                                                      {Command::kView, "view"}};
constexpr std::span<const EnumName<Command>> names_of(Command) { return kCommandNames; }

enum class ProgressMode : std::uint8_t { kAuto, kNone, kJson };
inline constexpr EnumName<ProgressMode> kProgressModes[] = {
    {ProgressMode::kAuto, "auto"}, {ProgressMode::kNone, "none"}, {ProgressMode::kJson, "json"}};
constexpr std::span<const EnumName<ProgressMode>> names_of(ProgressMode) { return kProgressModes; }

struct DumpOptions {
  std::string output;  // -o
  bool overwrite = false;
  bool resume = false;
};

struct InfoOptions {
  bool devices = false;  // --devices: list the cameras
};

struct ProfileOptions {
  double budget_ms = 33.3;
  bool check = false;  // exit 3 when the p99 of the frame is over the budget
  std::string trace;   // --trace FILE
};

struct ReconstructOptions {
  std::string directory;                 // a dump
  std::string output;                    // out.mp4 or out.png
  std::string against;                   // --against VIDEO
  std::optional<std::int64_t> emission;  // which one a .png shows; default: the middle one
  bool overwrite = false;
};

struct ViewOptions {
  ui::View view = ui::View::kFrame;
  int level = 0;                       // of ui::View::kLevel
  std::optional<LatticeKind> compare;  // shows ui::View::kCompare
  bool overlay = true;
  bool marks = true, outlines = false, scanpath = false;
  int width_px = 1280;  // of the window
  int height_px = 720;
  double ui_scale = 1;
  double speed = 1;
  bool paused = false;
  bool vsync = true;  // of a window; pictures have no screen to wait for
  bool offscreen = false;
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
  DumpOptions dump;
  InfoOptions info;
  ProfileOptions profile;
  ReconstructOptions reconstruct;
  ViewOptions view;

  // Every option that shapes the result, under its command-line name, as text: for meta.json, --resume, --print-config.
  std::vector<std::pair<std::string, std::string>> in_force;
};

// Parses argv. Returns nullopt when the process should end with `exit_code` (help, version, --print-config: 0; a usage
// error: 2, after one line on stderr). Reads --config first; the command line wins.
std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code);

}  // namespace saccade
