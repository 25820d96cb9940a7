// Which backends there are, and the texture that one makes. Chosen once, at start; never swapped silently.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/texture.h"
#include "kernels/upload_planner.h"
#include "pipeline/log.h"
#include "pipeline/source/frame/stream_info.h"

namespace saccade {

namespace gl {
class Context;
}

enum class Backend : std::uint8_t { kCpu, kGl, kCuda };
const char* name(Backend backend);  // "cpu", "gl", "cuda"
inline constexpr std::string_view kAutoBackend = "auto";
std::string backend_choices();  // all that choose_backend() takes: "auto|cpu|gl|cuda"

// "cpu", "gl" and "cuda" mean just that; "auto" is cuda where the device can be used, else cpu. `reason` says in one
// line why auto chose so, and stays empty otherwise. Throws UnavailableError, with the reason, when the one asked for
// isn't in this build or has no device; UsageError for another word.
Backend choose_backend(const std::string& asked, std::string& reason, int device = 0);

// Why a backend can't be used here; empty when it can. device: CUDA's ordinal. For gl this makes and drops a context.
std::string why_unavailable(Backend backend, int device = 0);

struct BackendConfig {
  Backend backend = Backend::kCpu;
  DiffConfig diff;
  bool staged = false;                      // each of diff, upload and mips by itself
  UploadPath upload = UploadPath::kAuto;    // of gl and cuda
  MemorySpace frames = MemorySpace::kHost;  // where the first one lies; later ones may come from elsewhere
  bool calibrate = true;                    // gl: by the costs measured here; false: by fixed ones, the same everywhere
  int device = 0;                           // of cuda: its ordinal
  bool kept = false;                        // one stream after the other will use it: ReusableTexture
  // The caller's context, current and kept alive by the caller: gl works in it, and cuda on textures of it. Null: gl,
  // and cuda with UploadPath::kPbo, make an offscreen one, which the texture owns.
  const gl::Context* gl = nullptr;
  Log log;
};

// Whether such a texture may be made, used and destroyed on several threads, one at a time: OpenGL's belong to one.
bool suits_any_thread(Backend backend, UploadPath upload);
bool suits_any_thread(std::string_view asked);  // as far as its name says; "auto" does

// On the thread that will use it, unless it suits any. Throws DeviceError when the device refuses, UnavailableError for
// what is not there.
std::unique_ptr<Texture> make_texture(const BackendConfig& config, const PyramidLayout& layout);

// What a backend can do, built in or not.
struct BackendTraits {
  bool draws = false;                // OpenGL can draw its textures: the viewer's
  bool uploads = false;              // frames reach it by one of several ways: UploadPath
  bool any_thread = false;           // its textures belong to no thread, but where they are OpenGL's (UploadPath::kPbo)
  bool may_be_lost = false;          // its device can fail: then it fails for all streams
  bool numbered = false;             // has one of several devices, by its ordinal: option device
  HwDecode decoder = HwDecode::kNo;  // what decodes frames on the device that has the texture
  int streams = 0;                   // side by side that keep it busy; 0: one for each core
  int launchers = 0;                 // threads that are enough to step all streams; 0: each stream has its own
};
const BackendTraits& traits(Backend backend);
const BackendTraits* traits_of(std::string_view asked);        // by its name; null: none has it, as "auto"
std::optional<Backend> backend_named(std::string_view asked);  // likewise
// All that can: "gl|cuda". The first of them is what is taken where none is asked for.
std::string backends_that(bool BackendTraits::*can);
Backend first_that(bool BackendTraits::*can);

// What a backend is made of. Each has one of these, in its own file; backend.cpp lists them.
struct BackendRow {
  Backend backend;
  const char* name;
  BackendTraits traits;
  std::string (*why_unavailable)(int device);
  std::unique_ptr<Texture> (*make)(const BackendConfig& config, const PyramidLayout& layout);
};
std::span<const BackendRow* const> all_backends();  // that there are, built in or not
// The traits of those that a build may leave out. NVDEC is busy with 14 decoders, and two more are being opened or
// closed; one launcher keeps up with ten decoders of 1080p H.264 on an H200.
inline constexpr BackendTraits kGlTraits{.draws = true, .uploads = true, .may_be_lost = true, .streams = 2};
inline constexpr BackendTraits kCudaTraits{.draws = true,
                                           .uploads = true,
                                           .any_thread = true,
                                           .may_be_lost = true,
                                           .numbered = true,
                                           .decoder = HwDecode::kCuda,
                                           .streams = 16,
                                           .launchers = 2};
extern const BackendRow kCpuRow;
extern const BackendRow kGlRow;
extern const BackendRow kCudaRow;

}  // namespace saccade
