// What stands behind a saccade_options.
#pragma once

#include <saccade/saccade.h>

#include <string>

#include "pipeline/log.h"
#include "pipeline/options/idle.h"
#include "pipeline/options/stream_options.h"

struct saccade_options {
  saccade::StreamOptions settings;
  saccade::GivenOptions given;
  saccade::Log log;
  std::string text;  // that saccade_options_get() returned
};
