// From what was asked to what will be done: conflicts, the backend, the decoder.
#pragma once

#include <string>

#include "pipeline/options/stream_options.h"
#include "pipeline/run/session.h"

namespace saccade {

// What the stream is opened for.
enum class StreamUse : std::uint8_t {
  kRun,      // the pipeline runs
  kDraw,     // it runs, and its texture is drawn by OpenGL
  kInspect,  // nothing runs: no backend is chosen
};

// Finds options that conflict and makes pipeline.lattice of options.lattice; opens no device. Throws OptionError.
void check_options(StreamOptions& options);

// That a backend which was named follows what the other options ask of it. Asks no device. Throws OptionError.
void check_named_backend(const StreamOptions& options);

// check_options(), then settles which backend runs, and why, and what decodes. Throws UnavailableError for a backend or
// a decoder that was asked for and can't be used here. Any thread; may probe devices.
void resolve(StreamOptions& options, StreamUse use = StreamUse::kRun);

// What is to decode, where it can be used, beside a backend whose own decoder is `of_backend`. Asks no device.
HwDecode wanted_decoder(const StreamOptions& options, HwDecode of_backend);

// Reads the files that options name beside the input: fixations, masks. Throws what opening an input would throw.
void check_files(const StreamOptions& options);

// The same files by their whole paths, for who opens them elsewhere. Throws OptionError where an option can't hold such
// a path.
void name_files_wholly(StreamOptions& options);

// Asks the device once more why what decodes can't be used; empty: it can, or none is to be used. After resolve().
std::string why_no_decoder(const StreamOptions& options);

// `eye` of lattice adaptive where no option sets it; again where a recorded gaze leads only after check_options().
void settle_eye(StreamOptions& options);

// What one input is run with; after resolve().
SessionConfig session_config(const StreamOptions& options, const std::string& uri);

}  // namespace saccade
