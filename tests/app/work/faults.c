/* LD_PRELOAD: faults of single videos. SACCADE_FAULT is a list of KIND@TEXT, for inputs whose name holds TEXT:
 *   segv, abort, exit   the process dies at the 5th packet     hang   reading never returns, from the 5th packet on
 *   leave               the process dies while it opens it     stuck  opening never returns
 *   eio                 opening fails with EIO                 eio2   likewise, the first two times in a process
 *   enospc              writing to a file whose path holds TEXT fails, as on a full disk */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };
static struct {
  void* format;
  char kind[16];
  int packets;
} open_inputs[MOST];

extern void avformat_free_context(void* format);

/* The kind of fault that an input's name asks for, or NULL. */
static const char* fault_of(const char* name, const char* only) {
  static __thread char kind[16];
  const char* at = getenv("SACCADE_FAULT");
  while (at != NULL && *at != 0) {
    char text[256];
    if (sscanf(at, "%15[^@]@%255[^,]", kind, text) == 2 && strstr(name, text) != NULL &&
        (only == NULL) == (strcmp(kind, "enospc") != 0))
      return kind;
    at = strchr(at, ',');
    if (at != NULL) ++at;
  }
  return NULL;
}

static void happen(const char* kind) {
  if (strcmp(kind, "segv") == 0) raise(SIGSEGV);
  if (strcmp(kind, "abort") == 0) abort();
  if (strcmp(kind, "exit") == 0 || strcmp(kind, "leave") == 0) _exit(7);
  if (strcmp(kind, "hang") == 0 || strcmp(kind, "stuck") == 0)
    for (;;) pause();
}

int avformat_open_input(void** format, const char* url, const void* input, void* options) {
  static int (*real)(void**, const char*, const void*, void*) = NULL;
  static int failed = 0;
  if (real == NULL) real = (int (*)(void**, const char*, const void*, void*))dlsym(RTLD_NEXT, "avformat_open_input");
  const char* kind = url != NULL ? fault_of(url, NULL) : NULL;
  if (kind != NULL && (strcmp(kind, "eio") == 0 || (strcmp(kind, "eio2") == 0 && failed++ < 2))) {
    avformat_free_context(*format);
    *format = NULL;
    return -EIO;
  }
  if (kind != NULL && (strcmp(kind, "leave") == 0 || strcmp(kind, "stuck") == 0)) happen(kind);
  const int opened = real(format, url, input, options);
  for (int i = 0; i < MOST && opened >= 0; ++i) {
    if (open_inputs[i].format == *format || (kind != NULL && open_inputs[i].format == NULL)) {
      open_inputs[i].format = kind != NULL ? *format : NULL;
      open_inputs[i].packets = 0;
      if (kind != NULL) strcpy(open_inputs[i].kind, kind);
      break;
    }
  }
  return opened;
}

int av_read_frame(void* format, void* packet) {
  static int (*real)(void*, void*) = NULL;
  if (real == NULL) real = (int (*)(void*, void*))dlsym(RTLD_NEXT, "av_read_frame");
  for (int i = 0; i < MOST; ++i) {
    if (open_inputs[i].format == format && ++open_inputs[i].packets > 5) happen(open_inputs[i].kind);
  }
  return real(format, packet);
}

ssize_t write(int fd, const void* data, size_t size) {
  static ssize_t (*real)(int, const void*, size_t) = NULL;
  if (real == NULL) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t got = getenv("SACCADE_FAULT") != NULL ? readlink(link, path, sizeof path - 1) : 0;
  if (got > 0) {
    path[got] = 0;
    if (fault_of(path, "enospc") != NULL) {
      errno = ENOSPC;
      return -1;
    }
  }
  return real(fd, data, size);
}
