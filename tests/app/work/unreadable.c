/* LD_PRELOAD: a store that can't be read. The SACCADE_NTH-th call of a process that reads something below SACCADE_BELOW
 * (open, read, opendir, readdir, stat) fails with the errno SACCADE_ERRNO, and so does each later call of that kind on
 * that path: another try finds what the first one did. The process makes the file SACCADE_HIT then, with the call and
 * the path. Nothing sleeps: tries follow at once. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024 };
static int calls = 0;
static char failing[MOST]; /* "CALL PATH" */

/* The C library's own function of that name, as `real`. */
#define REAL(name)                     \
  static __typeof__(&name) real = NULL; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void report(void) {
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("SACCADE_HIT"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  syscall(SYS_write, fd, failing, strlen(failing));
  close(fd);
}

/* Whether this call is to fail; then errno says how. */
static int fails(const char* call, const char* path) {
  const char *below = getenv("SACCADE_BELOW"), *nth = getenv("SACCADE_NTH");
  char this[MOST];
  const int saved = errno;
  if (below == NULL || nth == NULL || path == NULL || strncmp(path, below, strlen(below)) != 0) return 0;
  snprintf(this, sizeof this, "%s %s", call, path);
  const int first = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == atoi(nth);
  if (first) {
    strcpy(failing, this);
    report();
  }
  errno = saved;
  if (!first && strcmp(failing, this) != 0) return 0;
  errno = atoi(getenv("SACCADE_ERRNO"));
  return 1;
}

/* As above, of what is open, or of a name relative to it. */
static int fails_at(const char* call, int fd, const char* name) {
  char link[64], path[MOST];
  if (name != NULL && (name[0] == '/' || fd == AT_FDCWD)) return fails(call, name);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const int saved = errno;
  const ssize_t got = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (got <= 0) return 0;
  path[got] = 0;
  if (name != NULL && (size_t)got + strlen(name) + 2 < sizeof path) strcat(strcat(path, "/"), name);
  return fails(call, path);
}

static int reads(int flags) { return (flags & O_ACCMODE) == O_RDONLY; }
static mode_t mode_of(int flags, va_list rest) { return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; }

#define OPEN(name)                                                                  \
  int name(const char* path, int flags, ...) {                                      \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    const mode_t mode = mode_of(flags, rest);                                       \
    va_end(rest);                                                                   \
    if (reads(flags) && fails("open", path)) return -1;                             \
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                   \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                                                \
  int name(int fd, const char* path, int flags, ...) {                              \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    const mode_t mode = mode_of(flags, rest);                                       \
    va_end(rest);                                                                   \
    if (reads(flags) && fails_at("open", fd, path)) return -1;                      \
    return (int)syscall(SYS_openat, fd, path, flags, mode);                         \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int fd, void* to, size_t size) {
  return fails_at("read", fd, NULL) ? -1 : syscall(SYS_read, fd, to, size);
}
ssize_t pread(int fd, void* to, size_t size, off_t at) {
  return fails_at("read", fd, NULL) ? -1 : syscall(SYS_pread64, fd, to, size, at);
}
ssize_t pread64(int fd, void* to, size_t size, off_t at) { return pread(fd, to, size, at); }

DIR* opendir(const char* path) {
  REAL(opendir);
  return fails("opendir", path) ? NULL : real(path);
}
struct dirent* readdir(DIR* folder) {
  REAL(readdir);
  return fails_at("readdir", dirfd(folder), NULL) ? NULL : real(folder);
}
struct dirent64* readdir64(DIR* folder) {
  REAL(readdir64);
  return fails_at("readdir", dirfd(folder), NULL) ? NULL : real(folder);
}

int stat(const char* path, struct stat* facts) {
  REAL(stat);
  return fails("stat", path) ? -1 : real(path, facts);
}
int stat64(const char* path, struct stat64* facts) { return stat(path, (struct stat*)facts); }
int lstat(const char* path, struct stat* facts) {
  REAL(lstat);
  return fails("stat", path) ? -1 : real(path, facts);
}
int lstat64(const char* path, struct stat64* facts) { return lstat(path, (struct stat*)facts); }

int nanosleep(const struct timespec* time, struct timespec* left) {
  (void)time, (void)left;
  return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time, struct timespec* left) {
  (void)clock, (void)flags, (void)time, (void)left;
  return 0;
}
