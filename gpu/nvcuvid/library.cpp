// Stands in for the driver's libnvcuvid.so.1. Once loaded, dlopen("libnvcuvid.so.1") returns this library. It forwards
// every call to the driver; DecoderCache handles those that create, use and destroy decoders. Note [Kept decoders].
#include <dlfcn.h>
#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_nvcuvid.h>

#include "gpu/nvdec/decoder_cache.h"
#include "gpu/nvdec/library.h"

namespace {

saccade::DecoderCache* cache = nullptr;  // for the process's life
void* driver = nullptr;
using CurrentContext = CUresult(CUcontext*);  // cuCtxGetCurrent, which ffnvcodec leaves out
CurrentContext* current_context = nullptr;
constexpr auto kNotFound = static_cast<CUresult>(500);  // likewise CUDA_ERROR_NOT_FOUND

template <typename Call>
Call* driver_call(const char* name) {
  return reinterpret_cast<Call*>(dlsym(driver, name));
}

CUcontext context_of_thread() {
  CUcontext context = nullptr;
  return current_context(&context) == CUDA_SUCCESS ? context : nullptr;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* saccade_nvcuvid_load(const char* path) {
  void* const cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (cuda != nullptr) current_context = reinterpret_cast<CurrentContext*>(dlsym(cuda, "cuCtxGetCurrent"));
  if (current_context == nullptr) return "no driver (libcuda.so.1)";
  auto* const push = reinterpret_cast<tcuCtxPushCurrent_v2*>(dlsym(cuda, "cuCtxPushCurrent_v2"));
  auto* const pop = reinterpret_cast<tcuCtxPopCurrent_v2*>(dlsym(cuda, "cuCtxPopCurrent_v2"));
  if (push == nullptr || pop == nullptr) return "the driver lacks calls (libcuda.so.1)";
  driver = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return "the driver's video part can't be opened";
  saccade::NvdecCalls calls{driver_call<tcuvidCreateDecoder>("cuvidCreateDecoder"),
                            driver_call<tcuvidDestroyDecoder>("cuvidDestroyDecoder"),
                            driver_call<tcuvidDecodePicture>("cuvidDecodePicture"),
                            driver_call<tcuvidMapVideoFrame64>("cuvidMapVideoFrame64"),
                            driver_call<tcuvidGetDecodeStatus>("cuvidGetDecodeStatus"),
                            driver_call<tcuvidReconfigureDecoder>("cuvidReconfigureDecoder"),
                            context_of_thread,
                            push,
                            pop};
  if (!calls.create || !calls.destroy || !calls.decode || !calls.map || !calls.status || !calls.reconfigure)
    return "the driver's video part lacks calls";
  cache = new saccade::DecoderCache(std::move(calls));
  return nullptr;
}

void saccade_nvcuvid_keep(int most) { cache->keep(most); }
int saccade_nvcuvid_drop_idle() { return cache->drop_idle() ? 1 : 0; }
void saccade_nvcuvid_announce(void* stream, int fresh) { cache->announce(static_cast<CUstream>(stream), fresh != 0); }
void saccade_nvcuvid_use(void* stream, int* used, int* erred, long* failed_shown) {
  const saccade::DecoderUse use = cache->use(static_cast<CUstream>(stream));
  *used = use.used ? 1 : 0;
  *erred = use.erred ? 1 : 0;
  *failed_shown = use.failed_shown;
}
void saccade_nvcuvid_forget(void* stream) { cache->forget(static_cast<CUstream>(stream)); }

CUresult cuvidCreateDecoder(CUvideodecoder* decoder, CUVIDDECODECREATEINFO* wanted) {
  return cache->create(decoder, wanted);
}
CUresult cuvidDestroyDecoder(CUvideodecoder decoder) { return cache->destroy(decoder); }
CUresult cuvidReconfigureDecoder(CUvideodecoder decoder, CUVIDRECONFIGUREDECODERINFO* wanted) {
  return cache->reconfigure(decoder, wanted);
}
CUresult cuvidDecodePicture(CUvideodecoder decoder, CUVIDPICPARAMS* picture) { return cache->decode(decoder, picture); }
CUresult cuvidMapVideoFrame64(CUvideodecoder decoder, int picture, unsigned long long* address, unsigned* pitch,
                              CUVIDPROCPARAMS* params) {
  return cache->map(decoder, picture, address, pitch, params);
}

// PASS(NAME, (PARAMETERS), (ARGUMENTS)): the driver's own.
#define PASS(name, parameters, arguments)                     \
  CUresult name parameters {                                  \
    static t##name* const call = driver_call<t##name>(#name); \
    return call != nullptr ? call arguments : kNotFound;      \
  }
PASS(cuvidGetDecoderCaps, (CUVIDDECODECAPS * caps), (caps))
PASS(cuvidGetDecodeStatus, (CUvideodecoder decoder, int picture, CUVIDGETDECODESTATUS* status),
     (decoder, picture, status))
PASS(cuvidUnmapVideoFrame64, (CUvideodecoder decoder, unsigned long long address), (decoder, address))
PASS(cuvidCtxLockCreate, (CUvideoctxlock * lock, CUcontext context), (lock, context))
PASS(cuvidCtxLockDestroy, (CUvideoctxlock lock), (lock))
PASS(cuvidCtxLock, (CUvideoctxlock lock, unsigned flags), (lock, flags))
PASS(cuvidCtxUnlock, (CUvideoctxlock lock, unsigned flags), (lock, flags))
PASS(cuvidCreateVideoSource, (CUvideosource * source, const char* name, CUVIDSOURCEPARAMS* params),
     (source, name, params))
PASS(cuvidCreateVideoSourceW, (CUvideosource * source, const wchar_t* name, CUVIDSOURCEPARAMS* params),
     (source, name, params))
PASS(cuvidDestroyVideoSource, (CUvideosource source), (source))
PASS(cuvidSetVideoSourceState, (CUvideosource source, cudaVideoState state), (source, state))
PASS(cuvidGetSourceVideoFormat, (CUvideosource source, CUVIDEOFORMAT* format, unsigned flags), (source, format, flags))
PASS(cuvidGetSourceAudioFormat, (CUvideosource source, CUAUDIOFORMAT* format, unsigned flags), (source, format, flags))
PASS(cuvidCreateVideoParser, (CUvideoparser * parser, CUVIDPARSERPARAMS* params), (parser, params))
PASS(cuvidParseVideoData, (CUvideoparser parser, CUVIDSOURCEDATAPACKET* packet), (parser, packet))
PASS(cuvidDestroyVideoParser, (CUvideoparser parser), (parser))
#undef PASS

cudaVideoState cuvidGetVideoSourceState(CUvideosource source) {
  static tcuvidGetVideoSourceState* const call = driver_call<tcuvidGetVideoSourceState>("cuvidGetVideoSourceState");
  return call != nullptr ? call(source) : cudaVideoState_Error;
}

}  // extern "C"
#pragma GCC visibility pop
