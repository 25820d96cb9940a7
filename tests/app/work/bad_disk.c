/* LD_PRELOAD: a disk that can't read the file whose path holds SACCADE_BAD_FILE from byte SACCADE_BAD_FROM on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_bad(int fd) {
  char link[64], path[512];
  const char* name = getenv("SACCADE_BAD_FILE");
  if (name == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t got = readlink(link, path, sizeof path - 1);
  if (got <= 0) return 0;
  path[got] = 0;
  return strstr(path, name) != NULL && lseek(fd, 0, SEEK_CUR) >= atoll(getenv("SACCADE_BAD_FROM"));
}

ssize_t read(int fd, void* into, size_t size) {
  static ssize_t (*real)(int, void*, size_t) = NULL;
  if (real == NULL) real = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  if (!is_bad(fd)) return real(fd, into, size);
  errno = EIO;
  return -1;
}
