// Where an input lies, which may be what is missing.
#pragma once

#include <string>

#include "app/work/plan/item.h"

namespace saccade {

// The folder of all URLs that FFmpeg opens. A list of links names thousands of servers, some of which are gone: where
// one can be reached, the others answer for themselves. A machine without a network reaches none.
inline constexpr const char* kNetwork = "the network";

// The folder of a file, links followed also where they end in nothing: a link lies where its video lies. Of an image
// sequence, its folder. Of an input that is fetched "scheme://bucket": no machine lacks a part of a bucket. Of another
// URL kNetwork. Asks the file system about links alone.
std::string folder_of(const WorkItem& item);

// The same by the text alone, links not followed.
std::string written_folder(const WorkItem& item);

}  // namespace saccade
