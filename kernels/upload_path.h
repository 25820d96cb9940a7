// How damaged tiles travel to a texture on a GPU.
#pragma once

#include <cstdint>

#include "kernels/enum_names.h"

namespace saccade {

enum class UploadPath : std::uint8_t {
  kAuto,    // gl: kDirect on a software renderer, else kPbo. cuda: kDirect
  kPbo,     // rows packed into a ring of pixel buffers, and from there by glTexSubImage2D
  kDirect,  // gl: from the host copy in the call itself. cuda: the kernel that makes the levels reads them itself; no
            // GL
};
inline constexpr EnumName<UploadPath> kUploadPaths[] = {
    {UploadPath::kAuto, "auto"}, {UploadPath::kPbo, "pbo"}, {UploadPath::kDirect, "direct"}};
constexpr std::span<const EnumName<UploadPath>> names_of(UploadPath) { return kUploadPaths; }

}  // namespace saccade
