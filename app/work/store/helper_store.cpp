#include "app/work/store/helper_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <utility>

#include "app/process/process_name.h"
#include "app/work/store/folder_store.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kPieceBytes = std::uint64_t{8} << 20;
constexpr std::size_t kAtOnce = 64;  // requests in flight for many small files

}  // namespace

HelperStore::HelperStore(const std::string& url) : Store(masked_uri(url)), helper_(std::make_unique<Helper>(url)) {}

HelperAnswer HelperStore::asked(const std::string& name, std::future<HelperAnswer> answer, HelperFault allowed) const {
  HelperAnswer got = answer.get();
  if (got.fault == HelperFault::kNone || got.fault == allowed) return got;
  if (got.fault == HelperFault::kUnavailable) throw UnavailableError(got.line);
  const bool named = got.line.find(name) != std::string::npos;
  throw Error(ErrorKind::kOutput, named ? got.line : fmt::format("{}: {}", path(name), got.line));
}

std::vector<StoreFile> HelperStore::files(const std::string& folder) {
  const HelperAnswer answer = asked(folder, helper_->send({{"do", "list"}, {"folder", folder}}), HelperFault::kMissing);
  std::vector<StoreFile> files;
  const double now_s = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const Json& file : answer.json.value("files", Json::array())) {
    StoreFile facts{file.at(0), file.at(1), std::nullopt};
    if (file.at(3).is_number()) facts.age_s = now_s - file.at(3).get<double>();
    files.push_back(std::move(facts));
  }
  return files;
}

std::optional<std::vector<std::string>> HelperStore::names(const std::string& folder) {
  std::vector<std::string> names;
  for (StoreFile& file : files(folder)) names.push_back(std::move(file.name));
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> HelperStore::read(const std::string& name, std::uint64_t offset, std::uint64_t most) {
  Json request = {{"do", "read"}, {"name", name}};
  if (offset > 0 || most != UINT64_MAX) {
    request["offset"] = offset;
    request["count"] = most;
  }
  const HelperAnswer answer = asked(name, helper_->send(std::move(request)), HelperFault::kMissing);
  if (answer.fault == HelperFault::kMissing) return std::nullopt;
  return from_base64(answer.json.at("base64").get_ref<const std::string&>());
}

void HelperStore::read_many(const std::vector<std::string>& names,
                            const std::function<void(const std::string&, const std::string&)>& each) {
  std::deque<std::future<HelperAnswer>> coming;
  for (std::size_t sent = 0, taken = 0; taken < names.size(); ++taken) {
    for (; sent < names.size() && coming.size() < kAtOnce; ++sent)
      coming.push_back(helper_->send({{"do", "read"}, {"name", names[sent]}}));
    const HelperAnswer answer = asked(names[taken], std::move(coming.front()), HelperFault::kMissing);
    coming.pop_front();
    if (answer.fault == HelperFault::kNone)
      each(names[taken], from_base64(answer.json.at("base64").get_ref<const std::string&>()));
  }
}

bool HelperStore::read_pieces(const std::string& name, const std::function<void(std::string_view)>& on_piece) {
  for (std::uint64_t at = 0;; at += kPieceBytes) {
    const auto piece = read(name, at, kPieceBytes);
    if (!piece) return false;
    if (!piece->empty()) on_piece(*piece);
    if (piece->size() < kPieceBytes) return true;
  }
}

bool HelperStore::create(const std::string& name, const std::string& text, Lasting) {
  const Json request = {{"do", "create"}, {"name", name}, {"base64", to_base64(text)}};
  return asked(name, helper_->send(request), HelperFault::kExists).fault == HelperFault::kNone;
}

void HelperStore::put(const std::string& name, const std::string& text) {
  asked(name, helper_->send({{"do", "put"}, {"name", name}, {"base64", to_base64(text)}}), HelperFault::kNone);
}

void HelperStore::put_file(const std::string& name, const std::string& local) {
  asked(name, helper_->send({{"do", "put"}, {"name", name}, {"path", fs::absolute(local).string()}}),
        HelperFault::kNone);
  std::error_code ignored;
  fs::remove(local, ignored);
}

void HelperStore::remove(const std::string& name) {
  asked(name, helper_->send({{"do", "remove"}, {"name", name}}), HelperFault::kMissing);
}

std::optional<std::string> HelperStore::local_copy(const std::string& name) {
  const std::string local = fmt::format("{}/{}.{}", scratch_root(), process_name(), fs::path(name).filename().string());
  fs::create_directories(scratch_root());
  const HelperAnswer answer =
      asked(name, helper_->send({{"do", "read"}, {"name", name}, {"path", local}}), HelperFault::kMissing);
  return answer.fault == HelperFault::kMissing ? std::nullopt : std::optional(local);
}

std::string HelperStore::scratch_root() const { return scratch_folder(); }

std::string scratch_folder() { return fmt::format("{}/saccade-{}", fs::temp_directory_path().string(), getuid()); }

bool is_url(std::string_view place) { return place.find("://") != std::string_view::npos; }

std::unique_ptr<Store> open_store(const std::string& place) {
  constexpr std::string_view kFile = "file://";
  if (place.starts_with(kFile)) return std::make_unique<FolderStore>(place.substr(kFile.size()));
  if (is_url(place)) return std::make_unique<HelperStore>(place);
  return std::make_unique<FolderStore>(place);
}

}  // namespace saccade
