// A manifest that lies in a bucket, or is a Parquet table: the helper writes it to a file of this machine.
#pragma once

#include <string>

namespace saccade {

class ManifestCopy {
 public:
  // Throws InputError where it can't be read, UnavailableError where the helper can't.
  explicit ManifestCopy(const std::string& manifest);
  ~ManifestCopy();
  ManifestCopy(const ManifestCopy&) = delete;
  ManifestCopy& operator=(const ManifestCopy&) = delete;
  const std::string& path() const { return path_; }  // the manifest's own where it needs no copy

 private:
  std::string path_;
  bool copied_ = false;
};

}  // namespace saccade
