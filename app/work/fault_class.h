// Which class of the quarantine an error belongs to.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/error.h"

namespace saccade {

// Of the network, of a disk, or for want of threads, by the words of FFmpeg and the system: another try may help. The
// input's own name, which `what` may hold, says nothing.
bool is_io(const std::string& what, std::string_view input);

// There was no memory for it: in another try there may be. FFmpeg says so also of a file that asks for too much.
bool wants_memory(const Fault& fault);

// The class of a video that the device can't decode, where it must.
inline constexpr const char* kHwdecUnsupported = "hwdec_unsupported";

// Whether it is told of one video that no device decodes it. Where the device itself works it is the video's fault; for
// want of its memory it is not.
bool lacks_hwdec(const Fault& fault);

// "io", "input", "unexpected" (no memory is left), or "options": where no video takes them, the options are wrong and
// no video is. `gaze`: the file that the fixations are read from; empty: none.
const char* class_of(const Fault& fault, std::string_view input, std::string_view gaze);

}  // namespace saccade
