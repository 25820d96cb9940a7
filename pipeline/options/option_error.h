// A value that an option can't have, or options that can't go together.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/error.h"

namespace saccade {

// what(): "NAME: fault" or "NAME VALUE: fault", in plain option names. A caller that spells options otherwise builds
// its own text from the parts.
class OptionError : public UsageError {
 public:
  OptionError(std::string_view option, std::string fault) : OptionError(option, {}, std::move(fault), false) {}

  // In `fault`, {name} stands for another option. `value` is part of what is wrong; empty: the name says it.
  static OptionError naming(std::string_view option, std::string fault, std::string_view value = {}) {
    return {option, value, std::move(fault), true};
  }

  // "[VALUE]: fault", every option in it as `prefix` and its name.
  std::string tail(std::string_view prefix) const;

 private:
  OptionError(std::string_view option, std::string_view value, std::string fault, bool names_options);

  std::string value_;
  std::string fault_;
  bool names_options_;
};

}  // namespace saccade
