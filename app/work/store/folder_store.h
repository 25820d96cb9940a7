// A store in a folder of this machine.
#pragma once

#include <string>
#include <vector>

#include "app/work/store/store.h"

namespace saccade {

class FolderStore : public Store {
 public:
  explicit FolderStore(const std::string& path) : Store(path) {}
  bool is_folder() const override { return true; }
  std::optional<std::vector<std::string>> names(const std::string& folder) override;
  std::vector<StoreFile> files(const std::string& folder) override;
  std::optional<std::string> read(const std::string& name, std::uint64_t offset, std::uint64_t most) override;
  void read_many(const std::vector<std::string>& names,
                 const std::function<void(const std::string&, const std::string&)>& each) override;
  bool read_pieces(const std::string& name, const std::function<void(std::string_view)>& on_piece) override;
  bool create(const std::string& name, const std::string& text, Lasting lasting) override;
  void put(const std::string& name, const std::string& text) override;
  void put_file(const std::string& name, const std::string& local) override;
  void remove(const std::string& name) override;
  void make_folder(const std::string& name) override;
  std::optional<std::string> local_copy(const std::string& name) override;
  void use_scratch(const std::string& folder) override { scratch_ = folder; }
  std::string scratch_root() const override { return place(); }

 private:
  std::string draft_of(const std::string& name) const;
  std::string scratch_;  // empty: drafts lie beside their files
};

}  // namespace saccade
