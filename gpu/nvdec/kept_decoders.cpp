#include "gpu/nvdec/kept_decoders.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>

#include "gpu/nvdec/library.h"

namespace saccade {
namespace {

constexpr const char* kDriver = "libnvcuvid.so.1";

struct Library {
  decltype(&saccade_nvcuvid_load) load = nullptr;
  decltype(&saccade_nvcuvid_keep) keep = nullptr;
  decltype(&saccade_nvcuvid_drop_idle) drop_idle = nullptr;
  decltype(&saccade_nvcuvid_announce) announce = nullptr;
  decltype(&saccade_nvcuvid_use) use = nullptr;
  decltype(&saccade_nvcuvid_forget) forget = nullptr;
};

std::atomic<const Library*> loaded{nullptr};

std::string path_of(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

// Where the driver's library lies, without loading it: some stay for good, and the name is to be free for ours. The
// driver's libraries lie together, as a rule.
std::string driver_path() {
  void* const cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (cuda == nullptr) return {};
  const std::string path = std::filesystem::path(path_of(cuda)).replace_filename(kDriver);
  dlclose(cuda);
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  void* const driver = dlopen(kDriver, RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return {};
  std::string found = path_of(driver);
  dlclose(driver);
  return found;
}

template <typename Call>
bool find(void* library, const char* name, Call& call) {
  call = reinterpret_cast<Call>(dlsym(library, name));
  return call != nullptr;
}

std::string open_library(const std::string& path, std::unique_ptr<Library>& made) {
  const std::string driver = driver_path();
  if (driver.empty()) return "the driver's video part is not installed (libnvcuvid.so.1)";
  void* const ours = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (ours == nullptr) return dlerror();
  auto library = std::make_unique<Library>();
  const bool whole =
      find(ours, "saccade_nvcuvid_load", library->load) && find(ours, "saccade_nvcuvid_keep", library->keep) &&
      find(ours, "saccade_nvcuvid_drop_idle", library->drop_idle) &&
      find(ours, "saccade_nvcuvid_announce", library->announce) && find(ours, "saccade_nvcuvid_use", library->use) &&
      find(ours, "saccade_nvcuvid_forget", library->forget);
  const char* wrong = whole ? library->load(driver.c_str()) : "not this version's library";
  void* const named = wrong == nullptr ? dlopen(kDriver, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (wrong == nullptr && named != ours) wrong = "the driver's video part was loaded before";
  if (named != nullptr) dlclose(named);
  if (wrong != nullptr) {
    dlclose(ours);
    return wrong;
  }
  made = std::move(library);
  return {};
}

}  // namespace

std::string keep_decoders(const std::string& library, int most) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (loaded == nullptr) {
    std::unique_ptr<Library> made;
    if (std::string why = open_library(library, made); !why.empty()) return why;
    loaded = made.release();  // for the process's life, as what it loaded
  }
  loaded.load()->keep(most);
  return {};
}

DecoderUse decoders_of(void* stream) {
  int used = 0, erred = 0;
  long failed = 0;
  if (const Library* library = loaded; library != nullptr && stream != nullptr)
    library->use(stream, &used, &erred, &failed);
  return {used != 0, erred != 0, failed};
}

void forget_decoders_of(void* stream) {
  if (const Library* library = loaded; library != nullptr && stream != nullptr) library->forget(stream);
}

void announce_decoder(void* stream, bool fresh) {
  if (const Library* library = loaded; library != nullptr && stream != nullptr)
    library->announce(stream, fresh ? 1 : 0);
}

bool drop_idle_decoders() {
  const Library* library = loaded;
  return library != nullptr && library->drop_idle() != 0;
}

}  // namespace saccade
