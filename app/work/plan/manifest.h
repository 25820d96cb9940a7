// A manifest: CSV with a header, JSON lines, or a list of URIs; read row by row, so that its size does not matter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/json_file.h"
#include "app/work/plan/manifest_kind.h"

namespace saccade {

// Where a row lies in the file.
struct RowSpan {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t line = 0;  // its first, from 1
};

struct ManifestRow {
  std::string uri;
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns;
  std::optional<int> stream;
  std::string key;                          // empty: not given
  std::optional<std::int64_t> duration_ns;  // of the whole video
  Json extra = Json::object();
};

// Maps the file. Throws InputError that names the file, the line and the fault. One thread.
class Manifest {
 public:
  explicit Manifest(const std::string& path);
  // A copy, at `local`, of a manifest that is called `name`.
  Manifest(const std::string& name, const std::string& local);
  ~Manifest();
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return text_.size(); }
  const std::string& sha256() const { return sha256_; }
  bool next(RowSpan& span);  // the next row's place; false: the end
  ManifestRow row(const RowSpan& span) const;
  [[noreturn]] void refuse(const RowSpan& span, const std::string& fault) const;

 private:
  using Fields = std::vector<std::string>;
  void read_header();
  std::uint64_t record_end(std::uint64_t at, std::uint32_t& lines) const;
  Fields csv_fields(const RowSpan& span) const;
  ManifestRow csv_row(const RowSpan& span) const;
  ManifestRow json_row(const RowSpan& span) const;
  void take(ManifestRow& row, std::string_view column, const Json& value, const RowSpan& span) const;
  std::string absolute(std::string uri) const;

  std::string path_;
  ManifestKind kind_ = ManifestKind::kList;
  std::string_view text_;
  void* mapped_ = nullptr;
  std::string sha256_;
  std::string folder_;  // that the program was run in
  Fields columns_;      // of a CSV
  std::uint64_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace saccade
