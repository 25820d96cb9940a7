// What `view` can show: whatever the pipeline opens, and dumps.
#pragma once

#include "ui/picture/recorded_look.h"

namespace saccade {

// A folder is a dump. Called on any thread; throws InputError naming what is wrong with either.
ui::OpenedFeed open_input(const FeedConfig& config);

}  // namespace saccade
