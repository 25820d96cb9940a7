// A store in a bucket, or wherever else the helper process reads and writes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/work/store/helper.h"
#include "app/work/store/store.h"

namespace saccade {

class HelperStore : public Store {
 public:
  explicit HelperStore(const std::string& url);
  bool is_folder() const override { return false; }
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
  void make_folder(const std::string&) override {}
  std::optional<std::string> local_copy(const std::string& name) override;
  void use_scratch(const std::string&) override {}
  std::string scratch_root() const override;

 private:
  // The answer, unless the request failed: then it throws. `allowed`: a fault that is an answer, too.
  HelperAnswer asked(const std::string& name, std::future<HelperAnswer> answer, HelperFault allowed) const;

  const std::unique_ptr<Helper> helper_;
};

// A folder for scratch files of this user: TMPDIR/saccade-USER.
std::string scratch_folder();

}  // namespace saccade
