// Views as a user chooses them.
#pragma once

#include <string>

namespace saccade {

struct ViewsChoice {
  std::string model = "qwen2.5-vl";  // a row of named_rules()
  int tokens = 1568;                 // of a look, at most
  bool new_only = false;             // ViewRequest::new_only
  bool operator==(const ViewsChoice&) const = default;
};

}  // namespace saccade
