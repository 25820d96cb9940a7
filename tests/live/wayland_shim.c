/* LD_PRELOAD for the Wayland desktop of the tests.
 * sway does not start as root, as which containers run: it may believe that it can't become root again.
 * xdg-desktop-portal-wlr of Debian 12 shares no output of a compositor that draws without a GPU: it waits for the format
 * of a DMA-BUF, which that does not announce. Here one is announced along with the format in memory, which is then used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

typedef void (*Call)(void);
struct FrameCalls {
  Call buffer, flags, ready, failed, damage, linux_dmabuf, buffer_done;
};

int setuid(unsigned user) {
  (void)user;
  return -1;
}

int setgid(unsigned group) {
  (void)group;
  return -1;
}

static struct FrameCalls theirs;

static void on_buffer(void* data, void* frame, uint32_t format, uint32_t width, uint32_t height, uint32_t stride) {
  const uint32_t xrgb8888 = 0x34325258;
  ((void (*)(void*, void*, uint32_t, uint32_t, uint32_t))theirs.linux_dmabuf)(data, frame, xrgb8888, width, height);
  ((void (*)(void*, void*, uint32_t, uint32_t, uint32_t, uint32_t))theirs.buffer)(data, frame, format, width, height, stride);
}

int wl_proxy_add_listener(void* proxy, Call* calls, void* data) {
  static struct FrameCalls ours;
  int (*add)(void*, Call*, void*) = (int (*)(void*, Call*, void*))dlsym(RTLD_NEXT, "wl_proxy_add_listener");
  const char* (*class_of)(void*) = (const char* (*)(void*))dlsym(RTLD_NEXT, "wl_proxy_get_class");
  if (strcmp(class_of(proxy), "zwlr_screencopy_frame_v1") != 0) return add(proxy, calls, data);
  memcpy(&theirs, calls, sizeof theirs);
  ours = theirs;
  ours.buffer = (Call)on_buffer;
  return add(proxy, (Call*)&ours, data);
}
