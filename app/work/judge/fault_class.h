// Which class of the quarantine an error belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/error.h"

namespace saccade {

// Of the network, of a disk, or for want of threads: another try may help. This and all below go by the fault's kind,
// its errno and the options that it names. None reads its words.
bool is_io(const Fault& fault);

// There was no memory for it: in another try there may be. FFmpeg says so also of a file that asks for too much.
bool wants_memory(const Fault& fault);

// The class of a video that the device can't decode, where it must.
inline constexpr const char* kHwdecUnsupported = "hwdec_unsupported";

// Whether it is told of one video that no device decodes it. Where the device itself works it is the video's fault; for
// want of its memory it is not.
bool lacks_hwdec(const Fault& fault);

// The class of an input that is missing, or that may not be read.
inline constexpr const char* kMissing = "missing";

// "io", kMissing, "input", "unexpected" (no memory is left), or "options": where no video takes them, the options are
// wrong and no video is.
const char* class_of(const Fault& fault);

// Whether anything of a failed input could be read. False: nothing could, and its folder, mount or server may be what
// is missing. None: nothing is known. `kind`: its class; `frames`: so many came before it failed; `error`: its errno.
std::optional<bool> was_read(std::string_view kind, std::int64_t frames, int error, std::string_view input);

}  // namespace saccade
