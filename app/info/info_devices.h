// saccade info --devices: the cameras and the screen, and what each can give.
#pragma once

#include <string>
#include <vector>

#include "pipeline/source/live/cameras.h"
#include "pipeline/source/screen/screen_source.h"

namespace saccade {

std::string devices_text(const std::vector<Camera>& cameras, const std::vector<ScreenPart>& screen);
std::string devices_json(const std::vector<Camera>& cameras, const std::vector<ScreenPart>& screen);

}  // namespace saccade
