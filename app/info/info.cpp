// saccade info: what this machine can do; what a file is, and what would be done to it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.h"
#include "app/info/info_devices.h"
#include "app/info/info_file.h"
#include "app/info/info_machine.h"
#include "app/json/json_file.h"
#include "app/media/libraries.h"
#include "app/options/hint_flags.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/process/run_interrupt.h"
#include "app/process/stop_signal.h"
#include "app/version.h"
#include "kernels/cpu/ops.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif
#if SACCADE_CUDA
constexpr bool kCudaBuilt = true;
#else
constexpr bool kCudaBuilt = false;
#endif

std::string machine_text() {
  std::string text;
  const auto out = std::back_inserter(text);
  const CpuFacts cpu = cpu_facts();
  fmt::format_to(out, "saccade {}, built with {}, CUDA {}\n", version(), kCompiler, kCudaBuilt ? "on" : "off");
  fmt::format_to(out, "cpu       {}, {} threads, SIMD {}\n", cpu.name, cpu.threads, simd_target());
  fmt::format_to(out, "memory    {:.1f} GiB\n", static_cast<double>(memory_bytes()) / 0x1p30);
  fmt::format_to(out, "ffmpeg   ");
  for (const auto& [library, number] : ffmpeg_libraries()) fmt::format_to(out, " {} {}", library, number);
  fmt::format_to(out, "\n");
  const auto list = [&](const char* title, const std::vector<Availability>& entries) {
    for (const Availability& f : entries) {
      fmt::format_to(out, "{:<9} {}: {}{}\n", title, f.name, f.available ? "" : "no: ", f.detail);
      title = "";
    }
  };
  list("backends", backends());
  list("hwdec", hardware_decoders());
  return text;
}

Json to_json(const std::vector<Availability>& entries) {
  Json list = Json::array();
  for (const Availability& f : entries)
    list.push_back({{"name", f.name}, {"available", f.available}, {"detail", f.detail}});
  return list;
}

std::string machine_json() {
  const CpuFacts cpu = cpu_facts();
  Json json;
  json["saccade"] = version();
  json["build"] = {{"compiler", kCompiler}, {"cuda", kCudaBuilt}};
  json["cpu"] = {{"name", cpu.name}, {"threads", cpu.threads}, {"simd", simd_target()}};
  json["memory_bytes"] = memory_bytes();
  for (const auto& [library, number] : ffmpeg_libraries()) json["ffmpeg"][library] = number;
  json["backends"] = to_json(backends());
  json["hwdec"] = to_json(hardware_decoders());
  return json_text(json, 2);
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// One object for one input, an array for several. An input that fails is reported and the others go on, unless it is
// the only one.
int describe_inputs(const Options& options) {
  const bool several = options.inputs.size() > 1;
  RunInterrupt interrupt;
  const StopSignal stop([&interrupt] { interrupt.interrupt(); });
  int failures = 0;
  std::vector<std::string> parts;
  for (const std::string& input : options.inputs) {
    SourceConfig source = options.source;
    source.uri = input;
    interrupt.set_opening(input);
    try {
      const FileReport report = inspect(source, options.pipeline);
      parts.push_back(options.json ? to_json(report) : to_text(report));
    } catch (const InputError& error) {
      if (!several) throw;
      fmt::print(stderr, "saccade: {}\n", error_text(error));
      ++failures;
    }
  }
  if (options.json) {
    const std::string list = fmt::format("{}", fmt::join(parts, ",\n"));
    print(several ? fmt::format("[{}]\n", list) : list + "\n");
  } else {
    print(fmt::format("{}", fmt::join(parts, "\n")));
  }
  return static_cast<int>(failures > 0 ? ExitCode::kPartial : ExitCode::kOk);
}

}  // namespace

int run_info(const Options& options) {
  if (options.info.devices) {
    if (!options.inputs.empty()) throw UsageError("info: --devices takes no INPUT; leave one of them out");
    const std::vector<Camera> cameras = list_cameras();
    const std::vector<ScreenPart> screen = list_screen();
    print(options.json ? devices_json(cameras, screen) : devices_text(cameras, screen));
    return static_cast<int>(ExitCode::kOk);
  }
  if (!options.inputs.empty()) return describe_inputs(options);
  print(options.json ? machine_json() + "\n" : machine_text());
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace saccade
