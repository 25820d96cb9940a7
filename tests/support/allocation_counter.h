// How often operator new was called in this program, by any thread.
#pragma once

namespace saccade::test {

long allocation_count();

}  // namespace saccade::test
