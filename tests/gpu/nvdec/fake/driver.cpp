// Stands for libcuda.so.1 and libnvcuvid.so.1: decoders are numbers, and nothing is decoded.
#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_nvcuvid.h>

#include <cstdint>

#pragma GCC visibility push(default)
extern "C" {

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext*) { return CUDA_SUCCESS; }

static std::uintptr_t made = 0;
int fake_made() { return static_cast<int>(made); }

CUresult cuvidCreateDecoder(CUvideodecoder* decoder, CUVIDDECODECREATEINFO*) {
  *decoder = reinterpret_cast<CUvideodecoder>(++made);
  return CUDA_SUCCESS;
}
CUresult cuvidDestroyDecoder(CUvideodecoder) { return CUDA_SUCCESS; }
CUresult cuvidReconfigureDecoder(CUvideodecoder, CUVIDRECONFIGUREDECODERINFO*) { return CUDA_SUCCESS; }
CUresult cuvidDecodePicture(CUvideodecoder, CUVIDPICPARAMS*) { return CUDA_SUCCESS; }
CUresult cuvidMapVideoFrame64(CUvideodecoder, int, unsigned long long*, unsigned*, CUVIDPROCPARAMS*) {
  return CUDA_SUCCESS;
}
CUresult cuvidUnmapVideoFrame64(CUvideodecoder, unsigned long long) { return CUDA_SUCCESS; }
CUresult cuvidGetDecodeStatus(CUvideodecoder, int, CUVIDGETDECODESTATUS* status) {
  status->decodeStatus = cuvidDecodeStatus_Success;
  return CUDA_SUCCESS;
}
CUresult cuvidGetDecoderCaps(CUVIDDECODECAPS* caps) {
  caps->nMaxWidth = 4321;
  return CUDA_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
