#include "app/work/plan/probe.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>

#include "app/files/input_identity.h"
#include "app/process/cores.h"
#include "app/work/plan/item.h"
#include "app/work/process/worker_process.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMostProcesses = 3;
constexpr auto kLongest = std::chrono::seconds(60);  // for one video, where opening may not take longer
constexpr auto kTick = std::chrono::milliseconds(200);
constexpr int kMostEarlyDeaths = 3;  // of processes that said nothing, in a row

// What is needed to open any of them. What frames become of it is of no matter here.
Json source_json(const SourceConfig& source) {
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  return {{"format", source.input.format},
          {"size", source.input.size},
          {"rate", source.input.rate},
          {"pixel_format", source.input.pixel_format},
          {"rtsp_transport", source.live.rtsp_transport},
          {"open_timeout_s", number(source.live.open_timeout_s)},
          {"stall_timeout_s", number(source.live.stall_timeout_s)},
          {"allow_network", source.allow_network},
          {"max_pixels", std::max(SourceConfig{}.max_pixels, source.max_pixels)}};
}

SourceConfig source_of(const Json& json) {
  const auto number = [&json](const char* name) {
    return json.at(name).is_null() ? std::nullopt : std::optional(json.at(name).get<double>());
  };
  SourceConfig source;
  source.input = {json.at("format"), json.at("size"), json.at("rate"), json.at("pixel_format")};
  source.live.rtsp_transport = json.at("rtsp_transport");
  source.live.open_timeout_s = number("open_timeout_s");
  source.live.stall_timeout_s = number("stall_timeout_s");
  source.allow_network = json.at("allow_network");
  source.max_pixels = json.at("max_pixels");
  return source;
}

// None: there is no limit, as for an open-timeout of 0.
std::optional<std::chrono::seconds> longest_of(std::optional<double> open_timeout_s) {
  if (open_timeout_s && *open_timeout_s <= 0) return std::nullopt;
  return kLongest + std::chrono::seconds(static_cast<std::int64_t>(std::ceil(open_timeout_s.value_or(0))));
}

void tell(const Json& event) {
  fmt::print("{}", line_of(event));
  std::fflush(stdout);
}

// A process that opens one video after the other, and is replaced when one of them ends it.
class Prober {
 public:
  Prober(const Options& options, const std::vector<std::string>& uris, std::size_t& next,
         std::vector<std::optional<double>>& lengths)
      : options_(options), uris_(uris), next_(next), lengths_(lengths) {}

  bool done() const { return !at_ && next_ >= uris_.size(); }
  int read_fd() const { return process_ ? process_->read_fd() : -1; }

  void work() {
    if (process_ == nullptr) start();
    process_->flush();
    for (const Json& event : process_->receive()) hear(event);
    if (process_->closed()) return end();
    if (at_ && longest_ && Clock::now() - begin_ > *longest_) {
      return replace(fmt::format("took longer than {} s", longest_->count()));
    }
    if (!ready_ && Clock::now() - begin_ > kLongestStart) {
      throw Error(ErrorKind::kOutput, "a process said nothing for 120 s after its start: is the installation broken?");
    }
    if (!ready_ || at_ || next_ >= uris_.size()) return;
    at_ = next_++;
    begin_ = Clock::now();
    process_->send({{"uri", uris_[*at_]}});
  }

 private:
  void start() {
    ready_ = false;
    begin_ = Clock::now();
    process_ = std::make_unique<WorkerProcess>(options_.log_level == "info" ? "warn" : options_.log_level);
    process_->send({{"probe", source_json(options_.source)}});
  }

  void hear(const Json& event) {
    early_deaths_ = 0;
    ready_ = true;
    if (!at_ || event.at("event") != "length") return;
    if (event.at("length_s").is_number()) lengths_[*at_] = event.at("length_s").get<double>();
    at_.reset();
  }

  void end() {
    const auto end = process_->reap();
    if (!end) {
      process_->kill_if_due();
      if (!process_->survives_kill()) return;
      throw Error(ErrorKind::kOutput, "a process can't be ended: it waits for a disk or a device that doesn't answer");
    }
    if (++early_deaths_ > kMostEarlyDeaths) {
      throw Error(ErrorKind::kOutput, "the program dies before it has opened a video: is the installation broken?");
    }
    replace(end->signal ? fmt::format("killed the program: signal {} ({})", *end->signal, strsignal(*end->signal))
                        : fmt::format("ended the program: exit code {}", end->exit.value_or(0)));
  }

  void replace(const std::string& why) {
    if (at_) {
      fmt::print(stderr, "saccade: {}: its length is not known, and it stays whole: to open it {}\n",
                 masked_uri(uris_[*at_]), why);
    }
    at_.reset();
    process_.reset();
  }

  const Options& options_;
  const std::vector<std::string>& uris_;
  std::size_t& next_;
  std::vector<std::optional<double>>& lengths_;
  std::unique_ptr<WorkerProcess> process_;
  const std::optional<std::chrono::seconds> longest_ = longest_of(options_.source.live.open_timeout_s);
  std::optional<std::size_t> at_;  // what it opens; none: nothing
  bool ready_ = false;             // the process; before that its end is no video's doing
  Clock::time_point begin_;        // of the process, then of the video
  int early_deaths_ = 0;
};

}  // namespace

std::vector<std::optional<double>> probe_lengths(const Options& options, const std::vector<std::string>& uris) {
  std::vector<std::optional<double>> lengths(uris.size());
  std::size_t next = 0;
  const std::size_t count = std::min<std::size_t>(std::min(usable_cores(), kMostProcesses), uris.size());
  std::vector<Prober> probers;
  for (std::size_t i = 0; i < count; ++i) probers.emplace_back(options, uris, next, lengths);
  for (;;) {
    std::vector<pollfd> fds;
    for (Prober& prober : probers) {
      if (prober.done()) continue;
      prober.work();
      fds.push_back({prober.read_fd(), POLLIN, 0});
    }
    if (fds.empty()) return lengths;
    poll(fds.data(), fds.size(), static_cast<int>(kTick.count()));
  }
}

void serve_probe(const Json& source) {
  SourceConfig config = source_of(source);
  tell({{"event", "ready"}});
  for (std::string line; std::getline(std::cin, line);) {
    config.uri = Json::parse(line).at("uri").get<std::string>();
    Json length_s;
    try {
      const auto known_s = open_source(config)->info().duration_s;
      if (known_s) length_s = *known_s;
    } catch (const std::exception&) {  // `work` says what is wrong with it
    }
    tell({{"event", "length"}, {"length_s", length_s}});
  }
}

}  // namespace saccade
