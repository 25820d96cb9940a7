/* LD_PRELOAD: a disk that is slow, or stands still now and then, for the file named patches.npy.
 * SACCADE_DISK_MS: each write takes so long; SACCADE_DISK_STALL="EVERY_S,FOR_S": writing stands still. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_s(double seconds) {
  struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  while (nanosleep(&t, &t) != 0) continue;
}

static int is_patches(int fd) {
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t got = readlink(link, path, sizeof path - 1);
  if (got <= 0) return 0;
  path[got] = 0;
  return strstr(path, "patches.npy") != NULL;
}

static void delay(int fd) {
  static double last_s = 0;
  const char* ms = getenv("SACCADE_DISK_MS");
  const char* stall = getenv("SACCADE_DISK_STALL");
  double every = 0, length = 0;
  if ((ms == NULL && stall == NULL) || !is_patches(fd)) return;
  if (ms != NULL) sleep_s(atof(ms) / 1000);
  if (stall == NULL || sscanf(stall, "%lf,%lf", &every, &length) != 2) return;
  if (last_s == 0) last_s = now_s();
  if (now_s() - last_s < every) return;
  sleep_s(length);
  last_s = now_s();
}

ssize_t write(int fd, const void* data, size_t size) {
  static ssize_t (*real)(int, const void*, size_t) = NULL;
  if (real == NULL) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  delay(fd);
  return real(fd, data, size);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  static ssize_t (*real)(int, const void*, size_t, off64_t) = NULL;
  if (real == NULL) real = (ssize_t(*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  delay(fd);
  return real(fd, data, size, at);
}
