// What a demuxer is told before it opens: the user's hints, transports, limits and time-outs.
#pragma once

#include <string>

#include "pipeline/source/demux/locate.h"
#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Throws UsageError for a hint that can't be read.
void check_hints(const InputHints& hints);

// The demuxer that the user or the location asks for; null: FFmpeg finds it. Throws UsageError, InputError.
const AVInputFormat* forced_format(const SourceConfig& config, const InputLocation& location);

// The user's hints, and how the input's name is to be read.
Dictionary demuxer_options(const InputHints& hints, const InputLocation& location);

// What the demuxer left over it had no use for: a UsageError for a hint.
void check_hints_taken(const SourceConfig& config, const Dictionary& left, const AVFormatContext& format);

// A format without time stamps: FFmpeg counts its frames, 25 a second unless it knows better.
bool carries_no_times(const AVFormatContext& format);
bool is_multipart(const AVFormatContext& format);  // a camera's pictures over HTTP; its demuxer takes no rate

// What keeps network streams fresh and going.
void add_network_options(const InputLocation& location, const LiveConfig& config, Dictionary& options);

// Flags and limits of `format` itself, before it is opened.
void prepare_format(AVFormatContext& format, const InputLocation& location);

// The user's frame rate; 0/1: none was given.
AVRational given_rate(const InputHints& hints);

// What a camera's driver chose in place of what was asked for: a sentence; empty: nothing.
std::string other_than_asked(const InputHints& asked, const AVStream& stream);

// In force for this input, in seconds; 0: none.
double open_timeout_s(const InputLocation& location, const LiveConfig& config);
double stall_timeout_s(const InputLocation& location, const LiveConfig& config);

}  // namespace saccade
