// The program's own options, beside those of a stream.
#pragma once

#include <span>
#include <vector>

#include "app/options/table.h"

namespace saccade {

struct OwnRow {
  OptionRow<Options> row;
  OptionPlace place;
};

std::vector<OwnRow> result_rows();   // what becomes of a result
std::vector<OwnRow> command_rows();  // of single commands, and of all

}  // namespace saccade
