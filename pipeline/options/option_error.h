// A value that an option can't have, or options that can't go together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/error.h"

namespace saccade {

// what(): "NAME: fault" or "NAME VALUE: fault", in plain option names. Fault::options says where they stand, for
// callers that spell them otherwise.
class OptionError : public UsageError {
 public:
  OptionError(std::string_view option, const std::string& fault) : UsageError(OfOption(option), fault) {}

  // In `fault`, {name} stands for another option that is in force, {+name} for one to try. `value` is part of what is
  // wrong; empty: the name says it.
  static OptionError naming(std::string_view option, std::string_view fault, std::string_view value = {});

 private:
  explicit OptionError(const Fault& fault) : UsageError(fault) {}
};

// `text` with each {name} as the plain name; `found`: where they stand.
std::string name_options(std::string_view text, std::vector<NamedOption>& found);

}  // namespace saccade
