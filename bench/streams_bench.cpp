// Many videos in one process, and what each part of the way costs: decoding alone, with decoders that are kept, whole
// dumps, dumps that keep nothing from one video to the next; by slots, launchers and openers. Starts once, so no
// process's start is in the rates.
//
//   streams_bench [--backend cuda] [--device N] [--ways decoders,kept,dumps,fresh] [--slots 8,14] [--launchers 1]
//                 [--openers 3] [--copies 32] [--folder DIR] CLIP...
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "app/dump/dump_task.h"
#include "app/dump/kept.h"
#include "app/log.h"
#include "app/process/cores.h"
#include "pipeline/error.h"
#include "pipeline/options/resolve.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

struct Wanted {
  std::string backend = "cuda", device = "0", folder;
  std::vector<std::string> ways{"decoders", "kept", "dumps", "fresh"}, clips;
  std::vector<int> slots{8, 14}, launchers{1}, openers{3};
  int copies = 32;  // of each clip
};

struct Total {
  std::atomic<std::int64_t> frames{0};
  std::atomic<int> failed{0};
};

// Gives the inputs out, one after the other.
class Inputs {
 public:
  explicit Inputs(const Wanted& wanted) : wanted_(wanted) {}
  const std::string* next() {
    const std::size_t at = at_++;
    if (at >= wanted_.clips.size() * static_cast<std::size_t>(wanted_.copies)) return nullptr;
    return &wanted_.clips[at % wanted_.clips.size()];
  }

 private:
  const Wanted& wanted_;
  std::atomic<std::size_t> at_{0};
};

// A new decoder for each input, on a thread a slot: what dumps could reach.
void decode_all(const Options& options, int slots, Inputs& inputs, Total& total) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < slots; ++i) {
    threads.emplace_back([&] {
      while (const std::string* uri = inputs.next()) {
        try {
          const auto source = open_source(session_config(options, *uri).source);
          Frame frame;
          while (source->next(frame) == ReadStatus::kOk) {
            ++total.frames;
            source->recycle(std::move(frame));
          }
        } catch (const std::exception& error) {
          fmt::print(stderr, "{}\n", error.what());
          ++total.failed;
        }
      }
    });
  }
}

void dump_all(const Options& options, const StreamsConfig& config, bool keep, const std::string& folder, Inputs& inputs,
              Total& total) {
  KeptTextures kept(static_cast<std::size_t>(config.slots));
  RunInterrupt interrupt;
  int number = 0;
  Streams(config).run([&]() -> std::unique_ptr<StreamTask> {
    const std::string* uri = inputs.next();
    if (uri == nullptr) return nullptr;
    DumpJob job{options, *uri, fmt::format("{}/{}", folder, number++), {}, {}, keep ? &kept : nullptr};
    job.on_end = [&total](const DumpEnd& end) {
      if (end.outcome) total.frames += end.outcome->result.at("frames").get<std::int64_t>();
      total.failed += end.outcome ? 0 : 1;
    };
    return std::make_unique<DumpTask>(std::move(job), interrupt);
  });
}

void measure(const Options& given, const Wanted& wanted, const std::string& way, StreamsConfig config) {
  Options options = given;
  share_machine(options, config.slots, usable_cores());
  keep_between_inputs(options, way == "kept" || way == "dumps" ? config.slots : 0);
  const std::string folder = wanted.folder + "/streams_bench";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Inputs inputs(wanted);
  Total total;
  const auto begin = std::chrono::steady_clock::now();
  const bool alone = way == "decoders" || way == "kept";
  if (alone) {
    decode_all(options, config.slots, inputs, total);
  } else {
    dump_all(options, config, way == "dumps", folder, inputs, total);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("| {} | {} | {} | {} | {:.0f} | {} |\n", way, config.slots, alone ? "-" : std::to_string(config.launchers),
             alone ? "-" : std::to_string(config.openers), static_cast<double>(total.frames) / seconds,
             total.failed.load());
  std::fflush(stdout);
  std::filesystem::remove_all(folder);
}

template <typename T>
std::vector<T> list_of(const std::string& text) {
  std::vector<T> values;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if constexpr (std::is_same_v<T, int>) {
      values.push_back(std::stoi(word));
    } else {
      values.push_back(word);
    }
  }
  return values;
}

Wanted wanted_of(const std::vector<std::string>& arguments) {
  Wanted wanted;
  wanted.folder = std::filesystem::temp_directory_path().string();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (!name.starts_with("--")) {
      wanted.clips.push_back(name);
      continue;
    }
    const std::string& value = arguments.at(++i);
    if (name == "--backend") wanted.backend = value;
    if (name == "--device") wanted.device = value;
    if (name == "--folder") wanted.folder = value;
    if (name == "--copies") wanted.copies = std::stoi(value);
    if (name == "--ways") wanted.ways = list_of<std::string>(value);
    if (name == "--slots") wanted.slots = list_of<int>(value);
    if (name == "--launchers") wanted.launchers = list_of<int>(value);
    if (name == "--openers") wanted.openers = list_of<int>(value);
  }
  if (wanted.clips.empty()) throw UsageError("streams_bench: give one clip or more");
  return wanted;
}

void run(const Wanted& wanted) {
  std::vector<std::pair<std::string, std::string>> texts{{"backend", wanted.backend}, {"device", wanted.device}};
  if (wanted.backend == "cuda") texts.insert(texts.end(), {{"hwdec", "cuda"}, {"require-hwdec", "true"}});
  Options options = recorded_options(texts);
  options.source.log = app_log();
  options.dump.hash_input = false;
  options.progress = ProgressMode::kNone;
  fmt::print("| way | slots | launchers | openers | frames/s | failed |\n|---|---|---|---|---|---|\n");
  for (const int slots : wanted.slots) {
    for (const std::string& way : wanted.ways) {
      for (const int launchers : wanted.launchers) {
        for (const int openers : wanted.openers) {
          StreamsConfig config = streams_config(options.pipeline.backend, slots);
          if (options.pipeline.backend == Backend::kCuda) config.launchers = launchers;
          config.openers = openers;
          measure(options, wanted, way, config);
          if (way == "decoders") break;
        }
        if (way == "decoders") break;
      }
    }
  }
}

}  // namespace
}  // namespace saccade

int main(int count, char** arguments) {
  try {
    saccade::init_log("warn");
    saccade::run(saccade::wanted_of({arguments + 1, arguments + count}));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return EXIT_FAILURE;
  }
}
