#include "app/work/plan/plan_writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "app/process_name.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw Error(ErrorKind::kOutput,
              fmt::format("{}: could not be written: {}; free some space or choose another -o", path, reason));
}

}  // namespace

PlanWriter::PlanWriter(const std::string& store, double unit_s, double unit_bytes, double bytes_per_s)
    : store_(store),
      folder_(fmt::format("{}/plan.{}.tmp", store, process_name())),
      unit_s_(unit_s),
      unit_bytes_(unit_bytes),
      bytes_per_s_(bytes_per_s) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail(folder_, error.message());
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

bool PlanWriter::finish(Json facts) {
  close_unit();
  items_.close();
  units_.close();
  if (!items_ || !units_) fail(folder_, std::strerror(errno));
  facts["hash"] = plan_hash(items_digest_.hexadecimal(), units_digest_.hexadecimal(), facts);
  facts["items"] = items_done_;
  facts["units"] = units_done_;
  facts["in"] = items_done_ + facts.at("duplicates").get<std::int64_t>();
  facts["media_s"] = media_s_;
  write_json(folder_ + "/plan.json", facts);
  const std::string target = store_ + "/plan";
  if (std::rename(folder_.c_str(), target.c_str()) == 0) return true;
  if (errno == EEXIST || errno == ENOTEMPTY) return false;
  fail(target, std::strerror(errno));
}

}  // namespace saccade
