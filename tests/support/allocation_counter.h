// How often operator new was called in this program, by any thread, and for how much.
#pragma once

namespace saccade::test {

long allocation_count();
long allocated_bytes();  // in all, freed ones with them

}  // namespace saccade::test
