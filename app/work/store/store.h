// Where a store lies: a folder of this machine, or a place that a helper process of Python's reads and writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

struct StoreFile {
  std::string name;  // within its folder
  std::uint64_t bytes = 0;
  std::optional<double> age_s;  // since it was written, by this machine's clock; none: not known
};

// Five verbs: list, read, create, put, remove. Names are relative to the store ("commits/00000007.json"). "Not there"
// is an answer; every other fault is an Error of kOutput that names the file and the reason. Any thread.
class Store {
 public:
  explicit Store(std::string place) : place_(std::move(place)) {}
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  const std::string& place() const { return place_; }  // as it may be shown
  std::string path(std::string_view name) const { return place_ + "/" + std::string(name); }
  virtual bool is_folder() const = 0;  // of this machine

  // The names in a folder, sorted. None: there is no such folder, which is never the answer for a bucket.
  virtual std::optional<std::vector<std::string>> names(const std::string& folder) = 0;
  virtual std::vector<StoreFile> files(const std::string& folder) = 0;
  // None: there is no such file. Fewer bytes than `most`: the file ends before.
  virtual std::optional<std::string> read(const std::string& name, std::uint64_t offset = 0,
                                          std::uint64_t most = UINT64_MAX) = 0;
  // Calls `each` with each name and its content, in order, where that is there.
  virtual void read_many(const std::vector<std::string>& names,
                         const std::function<void(const std::string&, const std::string&)>& each) = 0;
  // Calls `on_piece` with the file's bytes in order. False: there is no such file.
  virtual bool read_pieces(const std::string& name, const std::function<void(std::string_view)>& on_piece) = 0;
  bool has(const std::string& name) { return read(name, 0, 1).has_value(); }

  enum class Lasting : bool { kNo, kYes };  // kYes: it outlives a loss of power
  // Creates a whole file, and only if there is none. False: there is one.
  virtual bool create(const std::string& name, const std::string& text, Lasting lasting = Lasting::kYes) = 0;
  virtual void put(const std::string& name, const std::string& text) = 0;  // replaces; may not outlive a loss of power
  // Makes `name` of a file of this machine, which is gone then. It lies in the scratch folder.
  virtual void put_file(const std::string& name, const std::string& local) = 0;
  virtual void remove(const std::string& name) = 0;
  virtual void make_folder(const std::string& name) = 0;  // a bucket has none

  // A file of this machine with these bytes; none: there is no such file. Unless is_folder() the caller removes it.
  virtual std::optional<std::string> local_copy(const std::string& name) = 0;
  // Drafts lie there from now on: for a folder one in the same file system.
  virtual void use_scratch(const std::string& folder) = 0;
  // Holds the folders of attempts: below a folder itself, below TMPDIR for others.
  virtual std::string scratch_root() const = 0;

 private:
  const std::string place_;
};

// place: a folder, also as "file:///folder", or a URL with another scheme ("s3://bucket/store"). Looks at nothing of a
// folder; starts the helper of a URL, and throws UnavailableError where that can't be started.
std::unique_ptr<Store> open_store(const std::string& place);

bool is_url(std::string_view place);  // "scheme://..."

}  // namespace saccade
