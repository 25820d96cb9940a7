// Where the command line and a settings file speak of the same thing by different options.
#pragma once

#include <span>
#include <string_view>

#include "app/options/table.h"

namespace saccade {

// Two options of which only one may be given, with a lattice of this kind (empty: any).
struct Contradiction {
  std::string_view one;
  std::string_view other;
  std::string_view lattice;
  std::string_view why;
};
std::span<const Contradiction> contradictions();

// Takes out of `file` what contradicts an option that was typed: the command line wins. What contradicts itself within
// one of them stays, for check_contradictions().
void give_way(GivenValues& file, const GivenValues& line);

}  // namespace saccade
