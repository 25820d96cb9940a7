#include "app/process/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace saccade {

// open() takes the lowest number that is free, so the three go in order. The modes are gnulib's "stdopen".
void open_standard_streams() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", kModes[fd]) != fd) std::abort();
  }
}

}  // namespace saccade
