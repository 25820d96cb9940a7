#include "app/work/run/fetcher.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "app/process/exit_code.h"
#include "app/work/judge/fault_class.h"
#include "app/work/plan/input_facts.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

constexpr std::size_t kMostSuffix = 16;

// Why there is no file, or another one than was planned.
ItemEnd end_of(const OpenItem& item, const HelperAnswer& answer) {
  ItemEnd end;
  const std::string uri = masked_uri(item.item.uri);
  if (answer.fault == HelperFault::kNone) {
    const auto line =
        object_change(item.item, answer.json.value("bytes", std::uint64_t{0}), answer.json.value("etag", ""));
    if (line.empty()) return end;
    end.why = {kChanged, line, static_cast<int>(ExitCode::kBadInput), std::nullopt, item.attempts};
  } else {
    const bool missing = answer.fault == HelperFault::kMissing || answer.fault == HelperFault::kForbidden;
    const bool named = answer.line.find(uri) != std::string::npos;
    const std::string line = answer.line.empty() ? "can't be fetched" : answer.line;
    end.why = {missing ? kMissing : "io", named ? line : fmt::format("{}: {}", uri, line), std::nullopt, std::nullopt,
               item.attempts};
    end.signs.read = false;
  }
  end.signs.end = AttemptEnd::kFailed;
  return end;
}

}  // namespace

Fetcher::Fetcher(std::string folder, std::function<void()> wake) : folder_(std::move(folder)), wake_(std::move(wake)) {}

Fetcher::~Fetcher() = default;

void Fetcher::begin(OpenItem& item) {
  if (!helper_) helper_ = std::make_unique<Helper>("");
  const std::string suffix = std::filesystem::path(item.item.uri.substr(0, item.item.uri.find('?'))).extension();
  item.item.local = fmt::format("{}/{}.{}.fetched{}", folder_, item.item.key, files_++, suffix.substr(0, kMostSuffix));
  ++in_flight_;
  helper_->send({{"do", "fetch"}, {"uri", item.item.uri}, {"path", item.item.local}},
                [this, &item](HelperAnswer answer) {
                  {
                    const std::lock_guard lock(mutex_);
                    answers_.emplace_back(&item, std::move(answer));
                  }
                  wake_();
                });
}

std::vector<Fetched> Fetcher::take() {
  std::vector<std::pair<OpenItem*, HelperAnswer>> answers;
  {
    const std::lock_guard lock(mutex_);
    answers = std::exchange(answers_, {});
  }
  std::vector<Fetched> all;
  for (auto& [item, answer] : answers) {
    --in_flight_;
    if (answer.fault == HelperFault::kUnavailable) throw UnavailableError(answer.line);
    const bool full = answer.code == ENOSPC || answer.code == EDQUOT || answer.code == EROFS;
    if (answer.fault == HelperFault::kEnded || full) throw Error(ErrorKind::kOutput, answer.line);
    all.push_back({item, end_of(*item, answer)});
    if (all.back().end.signs.end != AttemptEnd::kDone) remove(*item);
  }
  return all;
}

void Fetcher::remove(OpenItem& item) {
  std::error_code ignored;
  if (!item.item.local.empty()) std::filesystem::remove(item.item.local, ignored);
  item.item.local.clear();
}

}  // namespace saccade
