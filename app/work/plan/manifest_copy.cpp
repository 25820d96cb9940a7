#include "app/work/plan/manifest_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "app/process/process_name.h"
#include "app/work/store/helper.h"
#include "app/work/store/store.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

bool is_table(std::string suffix) {
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return std::tolower(c); });
  return suffix == ".parquet" || suffix == ".pq";
}

}  // namespace

ManifestCopy::ManifestCopy(const std::string& manifest) : path_(manifest) {
  const std::string suffix = fs::path(manifest).extension();
  if (!is_url(manifest) && !is_table(suffix)) return;
  copied_ = true;
  path_ = fs::temp_directory_path() /
          fmt::format("saccade-manifest.{}{}", process_name(), is_table(suffix) ? ".jsonl" : suffix);
  Helper helper("");
  const HelperAnswer answer = helper
                                  .send({{"do", "manifest"},
                                         {"uri", is_url(manifest) ? manifest : fs::absolute(manifest).string()},
                                         {"path", path_}})
                                  .get();
  if (answer.fault == HelperFault::kUnavailable) throw UnavailableError(answer.line);
  if (answer.fault != HelperFault::kNone) {
    const std::string name = masked_uri(manifest);
    throw InputError(answer.line.find(name) != std::string::npos ? answer.line
                                                                 : fmt::format("{}: {}", name, answer.line));
  }
}

ManifestCopy::~ManifestCopy() {
  std::error_code ignored;
  if (copied_) fs::remove(path_, ignored);
}

}  // namespace saccade
