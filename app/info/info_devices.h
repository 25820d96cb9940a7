// saccade info --devices: the cameras, and what each can give.
#pragma once

#include <string>
#include <vector>

#include "pipeline/source/live/cameras.h"

namespace saccade {

std::string devices_text(const std::vector<Camera>& cameras);
std::string devices_json(const std::vector<Camera>& cameras);

}  // namespace saccade
