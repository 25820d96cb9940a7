// What the options say of the viewer.
#pragma once

#include "app/options/options.h"
#include "ui/picture/view_state.h"

namespace saccade {

ui::ViewSettings settings_of(const Options& options);

}  // namespace saccade
