/* LD_PRELOAD: faults of single videos. SACCADE_FAULT is a list of KIND@TEXT, for inputs whose name holds TEXT:
 *   segv, abort, exit   the process dies at the 5th packet     hang   reading never returns, from the 5th packet on
 *   leave               the process dies while it opens it     stuck  opening never returns
 *   eio                 opening fails with EIO                 eio2   likewise, the first two times in a process
 *   gone, enomem        opening fails with ENOENT or ENOMEM    term   SIGTERM comes at the 5th packet
 *   crawl               from the 5th packet on each takes SACCADE_CRAWL_MS
 *   nohwdec             opening fails, and a worker says that the device works and does not decode it
 *   enospc              writing to a file whose path holds TEXT fails, as on a full disk
 *   block               writing to a file whose path holds TEXT waits for the gate
 * SACCADE_PROCESS_FAULT is a list of faults of whole processes:
 *   mute                a worker says nothing after its start
 *   unkillable          no signal that the program sends arrives
 *   lost                OpenGL fails from a worker's 20th fence on
 *   slow                before a folder is listed a fifth of a second goes by
 *   mangled             a worker's event of what is done lacks a member
 *   lingers             `work` never sees a worker's end
 *   nolinks             there are no hard links
 *   late_lock           a lock that is not waited for is taken once the gate is open
 *   late_list           the second time that the folder of markers is listed it waits for the gate
 * SACCADE_GATE=FILE: what waits for the gate makes FILE.there, and goes on when FILE is there.
 * SACCADE_WORKERS=FILE: a line a worker that began, its number. SACCADE_OPENED=FILE: a line an input that one opened.
 * SACCADE_HASTE=N: `work` itself (no worker) sees time pass N times as fast. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };
static struct {
  void* format;
  char kind[16];
  int packets;
} open_inputs[MOST];

extern void avformat_free_context(void* format);

/* The kind of fault that a name asks for, or NULL: of an input that is read, or of a file that is written. */
static const char* fault_of(const char* name, int written) {
  static __thread char kind[16];
  const char* at = getenv("SACCADE_FAULT");
  while (at != NULL && *at != 0) {
    char text[256];
    if (sscanf(at, "%15[^@]@%255[^,]", kind, text) == 2 && strstr(name, text) != NULL &&
        written == (strcmp(kind, "enospc") == 0 || strcmp(kind, "block") == 0))
      return kind;
    at = strchr(at, ',');
    if (at != NULL) ++at;
  }
  return NULL;
}

static void wait_for_gate(void) {
  const char* gate = getenv("SACCADE_GATE");
  char there[512];
  if (gate == NULL)
    for (;;) pause();
  snprintf(there, sizeof there, "%s.there", gate);
  close(open(there, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  while (access(gate, F_OK) != 0) usleep(10000);
}

static void add_line(const char* variable, const char* line) {
  const char* path = getenv(variable);
  char text[512];
  if (path == NULL) return;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  syscall(SYS_write, fd, text, snprintf(text, sizeof text, "%s\n", line));
  close(fd);
}

static void happen(const char* kind) {
  if (strcmp(kind, "term") == 0) raise(SIGTERM);
  if (strcmp(kind, "crawl") == 0) usleep(1000 * (unsigned)atoi(getenv("SACCADE_CRAWL_MS")));
  if (strcmp(kind, "segv") == 0) raise(SIGSEGV);
  if (strcmp(kind, "abort") == 0) abort();
  if (strcmp(kind, "exit") == 0 || strcmp(kind, "leave") == 0) _exit(7);
  if (strcmp(kind, "hang") == 0 || strcmp(kind, "stuck") == 0)
    for (;;) pause();
}

static int is_worker(void);

int avformat_open_input(void** format, const char* url, const void* input, void* options) {
  static int (*real)(void**, const char*, const void*, void*) = NULL;
  static int failed = 0;
  if (real == NULL) real = (int (*)(void**, const char*, const void*, void*))dlsym(RTLD_NEXT, "avformat_open_input");
  const char* kind = url != NULL ? fault_of(url, 0) : NULL;
  if (url != NULL && is_worker()) add_line("SACCADE_OPENED", url);
  if (kind != NULL && (strcmp(kind, "eio") == 0 || (strcmp(kind, "eio2") == 0 && failed++ < 2))) {
    avformat_free_context(*format);
    *format = NULL;
    return -EIO;
  }
  if (kind != NULL && strcmp(kind, "gone") == 0) {
    avformat_free_context(*format);
    *format = NULL;
    return -ENOENT;
  }
  if (kind != NULL && strcmp(kind, "enomem") == 0) {
    avformat_free_context(*format);
    *format = NULL;
    return -ENOMEM;
  }
  if (kind != NULL && strcmp(kind, "nohwdec") == 0) {
    avformat_free_context(*format);
    *format = NULL;
    return (int)0xbebbb1b7; /* AVERROR_INVALIDDATA */
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

/* A worker's event of a video that fails: of the class that it would have on a device. */
static ssize_t tell_no_hwdec(const char* line, size_t size) {
  static const char said[] = "\"class\":\"input\"", meant[] = "\"class\":\"hwdec_unsupported\"";
  char text[4096];
  const char* faults = getenv("SACCADE_FAULT");
  if (faults == NULL || strstr(faults, "nohwdec@") == NULL || size >= sizeof text - sizeof meant) return -1;
  memcpy(text, line, size);
  text[size] = 0;
  char* at = strstr(text, said);
  if (at == NULL) return -1;
  memmove(at + sizeof meant - 1, at + sizeof said - 1, strlen(at + sizeof said - 1) + 1);
  memcpy(at, meant, sizeof meant - 1);
  return syscall(SYS_write, 1, text, strlen(text)) > 0 ? (ssize_t)size : -1;
}

/* A worker's event of what is done, without a member. */
static ssize_t tell_too_little(const char* line, size_t size) {
  static const char said[] = "\"media_s\"";
  char text[4096];
  if (size >= sizeof text) return -1;
  memcpy(text, line, size);
  text[size] = 0;
  char* at = strstr(text, said);
  if (at == NULL) return -1;
  at[1] = 'x';
  return syscall(SYS_write, 1, text, size);
}

static int has_process_fault(const char* word);

ssize_t write(int fd, const void* data, size_t size) {
  static ssize_t (*real)(int, const void*, size_t) = NULL;
  if (real == NULL) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  if (fd == 1 && is_worker() && tell_no_hwdec(data, size) > 0) return (ssize_t)size;
  if (fd == 1 && is_worker() && has_process_fault("mangled") && tell_too_little(data, size) > 0) return (ssize_t)size;
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t got = getenv("SACCADE_FAULT") != NULL ? readlink(link, path, sizeof path - 1) : 0;
  if (got > 0) {
    path[got] = 0;
    const char* kind = fault_of(path, 1);
    if (kind != NULL && strcmp(kind, "block") == 0) {
      wait_for_gate();
    } else if (kind != NULL) {
      errno = ENOSPC;
      return -1;
    }
  }
  return real(fd, data, size);
}

static int has_process_fault(const char* word) {
  const char* all = getenv("SACCADE_PROCESS_FAULT");
  return all != NULL && strstr(all, word) != NULL;
}

/* Whether this process is `saccade worker`. */
static int is_worker(void) {
  static int known = -1;
  if (known >= 0) return known;
  char line[256] = {0};
  FILE* file = fopen("/proc/self/cmdline", "r");
  const size_t got = file != NULL ? fread(line, 1, sizeof line - 1, file) : 0;
  if (file != NULL) fclose(file);
  const size_t name = strlen(line) + 1;
  known = name < got && strcmp(line + name, "worker") == 0;
  return known;
}

__attribute__((constructor)) static void begin(void) {
  char number[32];
  snprintf(number, sizeof number, "%d", (int)getpid());
  if (getenv("SACCADE_WORKERS") != NULL && is_worker()) add_line("SACCADE_WORKERS", number);
  if (has_process_fault("mute") && is_worker())
    for (;;) pause();
}

int kill(pid_t pid, int number) { return has_process_fault("unkillable") ? 0 : (int)syscall(SYS_kill, pid, number); }

pid_t waitpid(pid_t pid, int* status, int options) {
  if (has_process_fault("lingers") && !is_worker()) {
    if ((options & WNOHANG) != 0) return 0;
    for (;;) pause();
  }
  return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

int link(const char* from, const char* to) {
  if (!has_process_fault("nolinks")) return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  errno = EPERM;
  return -1;
}

int flock(int fd, int operation) {
  if (has_process_fault("late_lock") && (operation & LOCK_NB) != 0) wait_for_gate();
  return (int)syscall(SYS_flock, fd, operation);
}

static void list_late(const char* path) {
  static int times = 0;
  const size_t size = strlen(path);
  if (!has_process_fault("late_list") || size < 8 || strcmp(path + size - 8, "/commits") != 0) return;
  if (__atomic_add_fetch(&times, 1, __ATOMIC_RELAXED) == 2) wait_for_gate();
}

void* opendir(const char* path) {
  list_late(path);
  static void* (*real)(const char*) = NULL;
  if (real == NULL) real = (void* (*)(const char*))dlsym(RTLD_NEXT, "opendir");
  if (has_process_fault("slow")) usleep(200000);
  return real(path);
}

void* fdopendir(int fd) {
  static void* (*real)(int) = NULL;
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t got = readlink(link, path, sizeof path - 1);
  path[got > 0 ? got : 0] = 0;
  list_late(path);
  if (real == NULL) real = (void* (*)(int))dlsym(RTLD_NEXT, "fdopendir");
  if (has_process_fault("slow")) usleep(200000);
  return real(fd);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  static long long first_ns = 0;
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  const char* haste = getenv("SACCADE_HASTE");
  if (haste == NULL || clock != CLOCK_MONOTONIC || is_worker()) return result;
  const long long ns = now->tv_sec * 1000000000LL + now->tv_nsec;
  long long begin_ns = 0;
  if (__atomic_compare_exchange_n(&first_ns, &begin_ns, ns, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) begin_ns = ns;
  const long long seen_ns = begin_ns + (ns - begin_ns) * atoi(haste);
  now->tv_sec = seen_ns / 1000000000LL;
  now->tv_nsec = seen_ns % 1000000000LL;
  return result;
}

typedef void (*Procedure)(void);
typedef void* (*FenceSync)(unsigned condition, unsigned flags);
static FenceSync real_fence = NULL;

static void* fence_until_lost(unsigned condition, unsigned flags) {
  static int calls = 0;
  return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) > 20 ? NULL : real_fence(condition, flags);
}

Procedure eglGetProcAddress(const char* name) {
  static Procedure (*real)(const char*) = NULL;
  if (real == NULL) real = (Procedure(*)(const char*))dlsym(RTLD_NEXT, "eglGetProcAddress");
  const Procedure found = real != NULL ? real(name) : NULL;
  if (found == NULL || strcmp(name, "glFenceSync") != 0 || !has_process_fault("lost") || !is_worker()) return found;
  real_fence = (FenceSync)found;
  return (Procedure)fence_until_lost;
}
