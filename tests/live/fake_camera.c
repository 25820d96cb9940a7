/* LD_PRELOAD: a V4L2 camera at $SACCADE_CAMERA (as /dev/video7), as a driver would answer, with pictures from files.
 * SACCADE_CAMERA_MJPEG, _YUYV: files of pictures: a u32 count, a u32 size each, then the bytes.
 * SACCADE_CAMERA_FORM="W,H,FPS". SACCADE_CAMERA_PULL=N: gone after N pictures; _STALL=N: gives no more after N;
 * _STUCK=N: pictures N and N + 1 have one time stamp, N + 2 one just after; _SHORT=N: each lacks N bytes; _BUSY:
 * somebody else has the camera. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { kBuffers = 4, kBufferBytes = 1 << 20, kMaxPictures = 4096 };

struct Pictures {
  uint32_t count, size[kMaxPictures];
  unsigned char* at[kMaxPictures];
};

static struct {
  int fd, nonblock, streaming, width, height, fps;
  uint32_t format;
  long number; /* of the next picture */
  int64_t begin_us;
  int queue[kBuffers], queued;
  unsigned char* memory;
  struct Pictures pictures;
} camera = {.fd = -1, .format = V4L2_PIX_FMT_MJPEG};

static int64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static long number_of(const char* variable) {
  const char* text = getenv(variable);
  return text != NULL ? atol(text) : -1;
}

static int is_camera(const char* path) {
  const char* name = getenv("SACCADE_CAMERA");
  return name != NULL && path != NULL && strcmp(path, name) == 0;
}

static void read_pictures(void) {
  const char* path = getenv(camera.format == V4L2_PIX_FMT_MJPEG ? "SACCADE_CAMERA_MJPEG" : "SACCADE_CAMERA_YUYV");
  FILE* file = path != NULL ? fopen(path, "rb") : NULL;
  struct Pictures* p = &camera.pictures;
  if (file == NULL || fread(&p->count, 4, 1, file) != 1 || p->count > kMaxPictures ||
      fread(p->size, 4, p->count, file) != p->count)
    abort();
  for (uint32_t i = 0; i < p->count; ++i) {
    p->at[i] = malloc(p->size[i]);
    if (p->size[i] > kBufferBytes || fread(p->at[i], 1, p->size[i], file) != p->size[i]) abort();
  }
  fclose(file);
}

static int open_camera(int flags) {
  if (getenv("SACCADE_CAMERA_BUSY") != NULL) return errno = EBUSY, -1;
  const char* form = getenv("SACCADE_CAMERA_FORM");
  if (form == NULL || sscanf(form, "%d,%d,%d", &camera.width, &camera.height, &camera.fps) != 3) abort();
  const int fd = memfd_create("camera", MFD_CLOEXEC);
  if (ftruncate(fd, (off_t)kBuffers * kBufferBytes) != 0) abort();
  camera.memory = mmap(NULL, (size_t)kBuffers * kBufferBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  camera.fd = fd;
  camera.nonblock = (flags & O_NONBLOCK) != 0;
  camera.number = camera.queued = camera.streaming = 0;
  return fd;
}

static int open_any(const char* name, const char* path, int flags, mode_t mode) {
  if (is_camera(path)) return open_camera(flags);
  int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, name);
  return real(path, flags, mode);
}

#define OPEN(function)                             \
  int function(const char* path, int flags, ...) { \
    va_list list;                                  \
    va_start(list, flags);                         \
    const mode_t mode = (mode_t)va_arg(list, int); \
    va_end(list);                                  \
    return open_any(#function, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define STAT(function, type)                                                                                  \
  int function(const char* path, struct type* status) {                                                       \
    if (is_camera(path)) {                                                                                    \
      memset(status, 0, sizeof *status);                                                                      \
      status->st_mode = S_IFCHR | 0600;                                                                       \
      status->st_rdev = makedev(81, 7);                                                                       \
      return 0;                                                                                               \
    }                                                                                                         \
    int (*real)(const char*, struct type*) = (int (*)(const char*, struct type*))dlsym(RTLD_NEXT, #function); \
    return real(path, status);                                                                                \
  }
STAT(stat, stat)
STAT(stat64, stat64)

int access(const char* path, int mode) {
  if (is_camera(path)) return 0;
  int (*real)(const char*, int) = (int (*)(const char*, int))dlsym(RTLD_NEXT, "access");
  return real(path, mode);
}

static int describe_format(uint32_t index, uint32_t* format, char* text) {
  if (index > 1) return errno = EINVAL, -1;
  *format = index == 0 ? V4L2_PIX_FMT_MJPEG : V4L2_PIX_FMT_YUYV;
  strcpy(text, index == 0 ? "Motion-JPEG" : "YUYV 4:2:2");
  return 0;
}

static void fill_format(struct v4l2_pix_format* pix) {
  pix->width = (uint32_t)camera.width;
  pix->height = (uint32_t)camera.height;
  pix->pixelformat = camera.format;
  pix->field = V4L2_FIELD_NONE;
  pix->bytesperline = camera.format == V4L2_PIX_FMT_YUYV ? 2 * pix->width : 0;
  pix->sizeimage = camera.format == V4L2_PIX_FMT_YUYV ? pix->bytesperline * pix->height : kBufferBytes;
}

static int dequeue(struct v4l2_buffer* buffer) {
  const long pull = number_of("SACCADE_CAMERA_PULL"), stall = number_of("SACCADE_CAMERA_STALL");
  for (;;) {
    if (pull >= 0 && camera.number >= pull) return errno = ENODEV, -1;
    const int64_t due_us = camera.begin_us + camera.number * 1000000 / camera.fps;
    const int ready = camera.queued > 0 && now_us() >= due_us && (stall < 0 || camera.number < stall);
    if (ready) break;
    if (camera.nonblock) return errno = EAGAIN, -1;
    usleep(1000);
  }
  const int64_t due_us = camera.begin_us + camera.number * 1000000 / camera.fps;
  const int index = camera.queue[0];
  memmove(camera.queue, camera.queue + 1, sizeof(int) * (size_t)--camera.queued);
  const uint32_t picture = (uint32_t)(camera.number % camera.pictures.count);
  memcpy(camera.memory + (size_t)index * kBufferBytes, camera.pictures.at[picture], camera.pictures.size[picture]);
  buffer->index = (uint32_t)index;
  const long lacks = number_of("SACCADE_CAMERA_SHORT"); /* bytes, of each picture */
  buffer->bytesused = camera.pictures.size[picture] - (uint32_t)(lacks > 0 ? lacks : 0);
  buffer->sequence = (uint32_t)camera.number++;
  buffer->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
  const long stuck = number_of("SACCADE_CAMERA_STUCK"), number = buffer->sequence;
  const int64_t stamp_us = stuck >= 0 && number > stuck && number <= stuck + 2
                               ? due_us - (number - stuck) * 1000000 / camera.fps + (number - stuck - 1) * 100
                               : due_us;
  buffer->timestamp.tv_sec = stamp_us / 1000000;
  buffer->timestamp.tv_usec = stamp_us % 1000000;
  return 0;
}

static int answer(unsigned long request, void* data) {
  switch ((uint32_t)request) {
    case (uint32_t)VIDIOC_QUERYCAP: {
      struct v4l2_capability* cap = data;
      memset(cap, 0, sizeof *cap);
      strcpy((char*)cap->driver, "fake");
      strcpy((char*)cap->card, "Fake Camera");
      strcpy((char*)cap->bus_info, "usb-fake-1");
      cap->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_DEVICE_CAPS;
      cap->device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
      return 0;
    }
    case (uint32_t)VIDIOC_G_INPUT:
      *(int*)data = 0;
      return 0;
    case (uint32_t)VIDIOC_ENUMINPUT: {
      struct v4l2_input* input = data;
      if (input->index != 0) return errno = EINVAL, -1;
      memset(input, 0, sizeof *input);
      strcpy((char*)input->name, "Camera 1");
      input->type = V4L2_INPUT_TYPE_CAMERA;
      return 0;
    }
    case (uint32_t)VIDIOC_ENUM_FMT: {
      struct v4l2_fmtdesc* format = data;
      return describe_format(format->index, &format->pixelformat, (char*)format->description);
    }
    case (uint32_t)VIDIOC_ENUM_FRAMESIZES: {
      struct v4l2_frmsizeenum* size = data;
      if (size->index != 0) return errno = EINVAL, -1;
      size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
      size->discrete.width = (uint32_t)camera.width;
      size->discrete.height = (uint32_t)camera.height;
      return 0;
    }
    case (uint32_t)VIDIOC_ENUM_FRAMEINTERVALS: {
      struct v4l2_frmivalenum* interval = data;
      if (interval->index != 0) return errno = EINVAL, -1;
      interval->type = V4L2_FRMIVAL_TYPE_DISCRETE;
      interval->discrete.numerator = 1;
      interval->discrete.denominator = (uint32_t)camera.fps;
      return 0;
    }
    case (uint32_t)VIDIOC_S_FMT: {
      struct v4l2_format* format = data;
      if (format->fmt.pix.pixelformat == V4L2_PIX_FMT_MJPEG || format->fmt.pix.pixelformat == V4L2_PIX_FMT_YUYV)
        camera.format = format->fmt.pix.pixelformat;
      fill_format(&format->fmt.pix);
      return 0;
    }
    case (uint32_t)VIDIOC_G_FMT:
      fill_format(&((struct v4l2_format*)data)->fmt.pix);
      return 0;
    case (uint32_t)VIDIOC_G_PARM:
    case (uint32_t)VIDIOC_S_PARM: {
      struct v4l2_captureparm* capture = &((struct v4l2_streamparm*)data)->parm.capture;
      capture->capability = V4L2_CAP_TIMEPERFRAME;
      capture->timeperframe.numerator = 1;
      capture->timeperframe.denominator = (uint32_t)camera.fps;
      return 0;
    }
    case (uint32_t)VIDIOC_REQBUFS:
      ((struct v4l2_requestbuffers*)data)->count = kBuffers;
      return 0;
    case (uint32_t)VIDIOC_QUERYBUF: {
      struct v4l2_buffer* buffer = data;
      buffer->length = kBufferBytes;
      buffer->m.offset = buffer->index * kBufferBytes;
      return 0;
    }
    case (uint32_t)VIDIOC_QBUF:
      camera.queue[camera.queued++] = (int)((struct v4l2_buffer*)data)->index;
      return 0;
    case (uint32_t)VIDIOC_DQBUF:
      return dequeue(data);
    case (uint32_t)VIDIOC_STREAMON:
      read_pictures();
      camera.begin_us = now_us();
      camera.streaming = 1;
      return 0;
    case (uint32_t)VIDIOC_STREAMOFF:
      camera.streaming = 0;
      return 0;
    default:
      return errno = ENOTTY, -1;
  }
}

int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* data = va_arg(list, void*);
  va_end(list);
  if (camera.fd >= 0 && fd == camera.fd) return answer(request, data);
  int (*real)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
  return real(fd, request, data);
}

int close(int fd) {
  if (fd >= 0 && fd == camera.fd) camera.fd = -1;
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
  return real(fd);
}
