#include "app/dump/kept.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "gpu/nvdec/kept_decoders.h"
#include "pipeline/backend/backend.h"

namespace saccade {
namespace {

#if defined(SACCADE_LIBDIR)
// Beside the program's folder, as installed, in a package of Python and in a build.
std::string library_path() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const char* folder : {SACCADE_LIBDIR, "lib"}) {
    const std::filesystem::path path = program.parent_path().parent_path() / folder / "saccade/libnvcuvid.so.1";
    if (std::filesystem::exists(path, error)) return path;
  }
  return {};
}
#else
std::string library_path() { return {}; }  // not built
#endif

}  // namespace

bool decodes_on_texture_device(const Options& options) {
  const HwDecode decoder = options.source.hwdec;
  return decoder != HwDecode::kNo && decoder == traits(options.pipeline.backend).decoder;
}

void keep_between_inputs(const Options& options, int most) {
  if (!decodes_on_texture_device(options)) return;
  const std::string path = library_path();
  const std::string why =
      path.empty() ? "lib/saccade/libnvcuvid.so.1 is not installed beside the program" : keep_decoders(path, most);
  if (why.empty()) {
    spdlog::debug("the GPU's decoders are kept, {} at most", most);
  } else {
    spdlog::warn("NVDEC decoders are created for each input, and their errors are not checked: {}", why);
  }
}

}  // namespace saccade
