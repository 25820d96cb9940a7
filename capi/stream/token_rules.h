// A token rule of the C interface and of the pipeline.
#pragma once

#include <saccade/views.h>

#include "pipeline/views/token_rule.h"

namespace saccade::capi {

// Throws UsageError for a rule that no image can follow.
TokenRule rule_of(const char* function, const saccade_token_rule* rule);

}  // namespace saccade::capi
