#include "app/work/plan/plan_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "app/files/whole_file.h"
#include "app/process/process_name.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int fault) { fail_to_write(path, fault, "choose another -o"); }

void sync(const std::string& path) {
  if (const int fault = sync_to_disk(path); fault != 0) fail(path, fault);
}

// Of planners that are done at once one looks what is there, and puts its own; not held where there are no locks.
class OneAtATime {
 public:
  explicit OneAtATime(const std::string& store)
      : fd_(open(store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), held_(flock(fd_, LOCK_EX) == 0) {}
  ~OneAtATime() {
    if (fd_ >= 0) close(fd_);
  }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;
  bool held() const { return held_; }

 private:
  const int fd_;
  const bool held_;
};

// What a loss of power left of a plan. Unless it is sure that no other planner just puts a whole one, it stays.
void remove_empty(const std::string& target, bool sure) {
  std::error_code error;
  if (sure) fs::remove_all(target, error);
  if (sure && !error) return;
  throw UsageError(
      fmt::format("{}/plan.json: is empty, as after a loss of power; remove {} and plan again", target, target));
}

}  // namespace

PlanWriter::PlanWriter(Store& store, double unit_s, double unit_bytes, double bytes_per_s)
    : store_(store),
      folder_(fmt::format("{}/plan.{}.tmp", store.scratch_root(), process_name())),
      unit_s_(unit_s),
      unit_bytes_(unit_bytes),
      bytes_per_s_(bytes_per_s) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail(folder_, error.value());
  items_.open(folder_ + "/items.jsonl", std::ios::binary | std::ios::trunc);
  units_.open(folder_ + "/units.jsonl", std::ios::binary | std::ios::trunc);
}

PlanWriter::~PlanWriter() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void PlanWriter::put(std::ofstream& file, Sha256& digest, const std::string& line) {
  file << line;
  digest.add(line);
}

void PlanWriter::add(const WorkItem& item) {
  const double media_s = unit_.media_s + item.media_s;
  if (unit_.items > 0 && (media_s > unit_s_ || media_s * bytes_per_s_ > unit_bytes_)) close_unit();
  const std::string line = line_of(item_json(item));
  put(items_, items_digest_, line);
  unit_.bytes += line.size();
  unit_.media_s += item.media_s;
  ++unit_.items;
  ++items_done_;
  media_s_ += item.media_s;
}

void PlanWriter::close_unit() {
  if (unit_.items == 0) return;
  put(units_, units_digest_,
      line_of({{"unit", unit_name(units_done_)},
               {"offset", offset_},
               {"bytes", unit_.bytes},
               {"items", unit_.items},
               {"media_s", unit_.media_s}}));
  ++units_done_;
  offset_ += unit_.bytes;
  unit_ = {};
}

// plan.json comes last: it alone says that the plan is whole. Of several planners the first to create the claim may
// put the other files, also when it comes again.
bool PlanWriter::put(const Json& facts) {
  constexpr const char* kClaim = "plan/claim.json";
  const std::string mine = line_of({{"hash", facts.at("hash")}});
  if (!store_.create(kClaim, mine) && store_.read(kClaim) != mine) {
    if (Plan::exists(store_)) return false;  // that planner is done: its plan must not be removed
    throw UsageError(OfOption("output", store_.place()),
                     fmt::format("another plan was begun there and is not whole yet ({}); choose another -o, or, where "
                                 "that planner has died, remove {}/",
                                 kClaim, store_.path("plan")));
  }
  for (const char* name : {"items.jsonl", "units.jsonl"})
    store_.put_file(fmt::format("plan/{}", name), fmt::format("{}/{}", folder_, name));
  return store_.create("plan/plan.json", json_text(facts, 2) + "\n");
}

bool PlanWriter::finish(Json facts) {
  close_unit();
  items_.close();
  units_.close();
  if (!items_ || !units_) fail(folder_, errno);
  facts["hash"] = plan_hash(items_digest_.hexadecimal(), units_digest_.hexadecimal(), facts);
  facts["items"] = items_done_;
  facts["units"] = units_done_;
  facts["in"] = items_done_ + facts.at("duplicates").get<std::int64_t>();
  facts["media_s"] = media_s_;
  write_json(folder_ + "/plan.json", facts);
  for (const char* name : {"/items.jsonl", "/units.jsonl", "/plan.json", ""}) sync(folder_ + name);
  if (!store_.is_folder()) return put(facts);
  const std::string target = store_.path("plan");
  const OneAtATime lock(store_.place());
  if (Plan::is_empty(store_)) remove_empty(target, lock.held());
  if (std::rename(folder_.c_str(), target.c_str()) == 0) return sync(store_.place()), true;
  if (errno == EEXIST || errno == ENOTEMPTY) return false;
  fail(target, errno);
}

}  // namespace saccade
