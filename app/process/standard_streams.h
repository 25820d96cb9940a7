// The program's standard streams, whatever its parent left of them.
#pragma once

namespace saccade {

// Opens /dev/null for each of stdin, stdout and stderr that is closed. Otherwise the next file, socket or pipe that is
// opened gets its number, and what is printed lands there. Reading such a stdin and writing such a stdout fails, as it
// would have; messages are dropped. Before anything else is opened.
void open_standard_streams();

}  // namespace saccade
