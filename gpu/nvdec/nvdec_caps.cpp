#include "gpu/nvdec/nvdec_caps.h"

#if __has_include(<ffnvcodec/dynlink_loader.h>)
#include <ffnvcodec/dynlink_loader.h>

#include <array>
#include <memory>
#include <utility>
#define SACCADE_NVDEC 1
#endif

namespace saccade {

#if defined(SACCADE_NVDEC)
namespace {

struct FreeFunctions {
  void operator()(CudaFunctions* functions) const { cuda_free_functions(&functions); }
  void operator()(CuvidFunctions* functions) const { cuvid_free_functions(&functions); }
};

constexpr std::array<std::pair<const char*, cudaVideoCodec>, 10> kCodecs{{{"mpeg1video", cudaVideoCodec_MPEG1},
                                                                          {"mpeg2video", cudaVideoCodec_MPEG2},
                                                                          {"mpeg4", cudaVideoCodec_MPEG4},
                                                                          {"vc1", cudaVideoCodec_VC1},
                                                                          {"h264", cudaVideoCodec_H264},
                                                                          {"mjpeg", cudaVideoCodec_JPEG},
                                                                          {"hevc", cudaVideoCodec_HEVC},
                                                                          {"vp8", cudaVideoCodec_VP8},
                                                                          {"vp9", cudaVideoCodec_VP9},
                                                                          {"av1", cudaVideoCodec_AV1}}};

NvdecCodec query(const CuvidFunctions& cuvid, const char* name, cudaVideoCodec codec) {
  NvdecCodec result;
  result.name = name;
  for (const int depth : {8, 10, 12}) {
    CUVIDDECODECAPS caps{};
    caps.eCodecType = codec;
    caps.eChromaFormat = cudaVideoChromaFormat_420;
    caps.nBitDepthMinus8 = static_cast<unsigned>(depth - 8);
    if (cuvid.cuvidGetDecoderCaps(&caps) != CUDA_SUCCESS || caps.bIsSupported == 0) continue;
    if (result.depths.empty()) {
      result.max_width = caps.nMaxWidth;
      result.max_height = caps.nMaxHeight;
    }
    result.depths.push_back(depth);
  }
  return result;
}

}  // namespace

NvdecStatus query_nvdec(int ordinal) {
  NvdecStatus status;
  CudaFunctions* loaded_cuda = nullptr;
  CuvidFunctions* loaded_cuvid = nullptr;
  if (cuda_load_functions(&loaded_cuda, nullptr) < 0) {
    status.error = "no driver (libcuda.so.1)";
    return status;
  }
  const std::unique_ptr<CudaFunctions, FreeFunctions> cuda(loaded_cuda);
  if (cuvid_load_functions(&loaded_cuvid, nullptr) < 0) {
    status.error = "the driver's video part is not installed (libnvcuvid.so.1)";
    return status;
  }
  const std::unique_ptr<CuvidFunctions, FreeFunctions> cuvid(loaded_cuvid);
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (cuda->cuInit(0) != CUDA_SUCCESS || cuda->cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
      cuda->cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS) {
    status.error = "no GPU that CUDA can use";
    return status;
  }
  if (cuda->cuCtxPushCurrent(context) == CUDA_SUCCESS) {
    for (const auto& [name, codec] : kCodecs) {
      NvdecCodec found = query(*cuvid, name, codec);
      if (!found.depths.empty()) status.codecs.push_back(std::move(found));
    }
    cuda->cuCtxPopCurrent(&context);
  }
  cuda->cuDevicePrimaryCtxRelease(device);
  if (status.codecs.empty()) status.error = "this GPU decodes no codec";
  return status;
}
#else
NvdecStatus query_nvdec(int) {
  NvdecStatus status;
  status.error = "this build knows no NVDEC (Debian: libffmpeg-nvenc-dev)";
  return status;
}
#endif

}  // namespace saccade
