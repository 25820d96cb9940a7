#include "app/work/plan/manifest_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "pipeline/error.h"
#include "pipeline/lower_case.h"

namespace saccade {
namespace {

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  const char* name;
};
constexpr Magic kCompressed[] = {{0, "\x1F\x8B", "gzip"},
                                 {0, "\x28\xB5\x2F\xFD", "zstd"},
                                 {1, "7zXZ", "xz"},
                                 {4, "1AY&SY", "bzip2"},
                                 {0, "PK\x03\x04", "zip"}};
constexpr std::size_t kLooked_bytes = 4096;
constexpr const char* kJsonAdvice = "write an object a line, as .jsonl, for example with: jq -c '.[]'";
constexpr const char* kTabAdvice = "write it with commas, as .csv";

[[noreturn]] void refuse(const std::string& path, const std::string& fault) {
  throw InputError(fmt::format("{}: {}", path, fault));
}

void refuse_binary(const std::string& path, std::string_view text) {
  if (text.starts_with("PAR1")) refuse(path, "is Parquet, which the program can't read; plan it with pysaccade");
  for (const Magic& magic : kCompressed) {
    if (text.substr(std::min(magic.offset, text.size())).starts_with(magic.bytes))
      refuse(path, fmt::format("is compressed ({}); decompress it first", magic.name));
  }
  if (text.substr(0, kLooked_bytes).find('\0') != text.npos) {
    refuse(path, fmt::format("is no text in UTF-8; a manifest is a .csv, a .jsonl or a list: {}", kListAdvice));
  }
}

// Whether one of its fields is "uri", whatever separates them.
bool names_columns(std::string_view line) {
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(",;\t", at), line.size());
    if (line.substr(at, end - at) == "uri") return true;
    at = end + 1;
  }
  return false;
}

// A list whose first line is a header or JSON is something else under a wrong name.
void refuse_other_list(const std::string& path, std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  if (names_columns(text.substr(0, text.find_first_of("\r\n")))) {
    refuse(path, "begins with names of columns; call it .csv, with commas between them");
  }
  const std::size_t next = std::min(text.find_first_not_of(kBlank, 1), text.size());
  const std::string_view rest = text.substr(next);
  if (text.starts_with('{') && rest.starts_with('"')) refuse(path, "holds JSON; call it .jsonl, with an object a line");
  if (text.starts_with('[') && (rest.starts_with('{') || rest.starts_with('"'))) {
    refuse(path, fmt::format("is a JSON array; {}", kJsonAdvice));
  }
}

}  // namespace

ManifestKind manifest_kind(const std::string& path, std::string_view text) {
  refuse_binary(path, text);
  const std::string suffix = lower_case(std::filesystem::path(path).extension().string());
  if (suffix == ".csv") return ManifestKind::kCsv;
  if (suffix == ".jsonl" || suffix == ".ndjson") return ManifestKind::kJsonLines;
  if (suffix == ".json") refuse(path, fmt::format("is a JSON document, not a manifest; {}", kJsonAdvice));
  if (suffix == ".tsv" || suffix == ".tab") refuse(path, fmt::format("has tabs between its columns; {}", kTabAdvice));
  refuse_other_list(path, text);
  return ManifestKind::kList;
}

}  // namespace saccade
