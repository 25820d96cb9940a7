#include "pipeline/late_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "pipeline/error.h"

namespace saccade {

LateLibrary::LateLibrary(std::string user, std::string soname, std::string packages)
    : user_(std::move(user)),
      soname_(std::move(soname)),
      packages_(std::move(packages)),
      handle_(dlopen(soname_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) fail();
}

void* LateLibrary::find(const char* symbol) const {
  void* const found = dlsym(handle_, symbol);
  if (found == nullptr) fail();
  return found;
}

void LateLibrary::fail() const {
  const char* const reason = dlerror();
  throw UnavailableError(fmt::format("{}: needs {}, which can't be loaded: {}; install {}", user_, soname_,
                                     reason != nullptr ? reason : "no reason given", packages_));
}

}  // namespace saccade
