// NVDEC's decoders, kept when FFmpeg destroys them and given to the next that wants one like it.
#pragma once

#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_cuviddec.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "gpu/nvdec/decoder_use.h"

namespace saccade {

// Note [Kept decoders]
// To make one of NVDEC's decoders takes 40 ms and to destroy one 235 (H200, driver 580), and others wait meanwhile: of
// clips of 10 s, 14 decoders side by side give 3,000 frames/s that way and 3,900 when they are kept. FFmpeg has no way
// to keep one. So FFmpeg is given these calls for the driver's (gpu/nvcuvid): what it destroys goes on to the next
// decoder of the same codec, format and size.
// The surfaces of a used decoder hold pictures of another video. A stream that is whole never shows them: each picture
// is written before it is shown or referred to. A damaged one may, and so may one whose picture NVDEC couldn't decode,
// which FFmpeg doesn't ask. DecoderUse says so of a stream, and its pixels are then not to be kept. NVDEC tells what
// failed for H.264 and HEVC; decoders of other codecs are never kept. A thread announces the stream for which it will
// create one; decoders that nobody announced pass through.

// The driver's calls, as the cache makes them.
struct NvdecCalls {
  std::function<tcuvidCreateDecoder> create;
  std::function<tcuvidDestroyDecoder> destroy;
  std::function<tcuvidDecodePicture> decode;
  std::function<tcuvidMapVideoFrame64> map;
  std::function<tcuvidGetDecodeStatus> status;
  std::function<tcuvidReconfigureDecoder> reconfigure;
  std::function<CUcontext()> context;  // the calling thread's current one
  std::function<tcuCtxPushCurrent_v2> push;
  std::function<tcuCtxPopCurrent_v2> pop;
};

// Any thread. The calls return what the driver's return. Decoders that nobody announced are the driver's alone.
class DecoderCache {
 public:
  explicit DecoderCache(NvdecCalls calls) : calls_(std::move(calls)) {}

  void keep(int most);  // used and idle together; 0, as at first: none are kept
  bool drop_idle();     // their memory is wanted; false: there were none
  // The next decoder that this thread creates works for this stream, which isn't null.
  // fresh: it is one that worked for none before.
  void announce(CUstream stream, bool fresh);
  DecoderUse use(CUstream stream);  // waits for pictures that are being decoded
  void forget(CUstream stream);     // before the handle is used again

  CUresult create(CUvideodecoder* decoder, CUVIDDECODECREATEINFO* wanted);
  CUresult destroy(CUvideodecoder decoder);
  CUresult reconfigure(CUvideodecoder decoder, CUVIDRECONFIGUREDECODERINFO* wanted);  // it is not kept then
  CUresult decode(CUvideodecoder decoder, CUVIDPICPARAMS* picture);
  CUresult map(CUvideodecoder decoder, int picture, unsigned long long* address, unsigned* pitch,
               CUVIDPROCPARAMS* params);

 private:
  enum class Decoded : std::uint8_t { kWhole, kFailed, kUnknown };
  struct Decoder {
    CUvideodecoder handle = nullptr;
    CUVIDDECODECREATEINFO made{};
    CUcontext context = nullptr;
    CUstream stream = nullptr;  // whom it works for
    bool changed = false;       // is no more as it was made
    bool used = false;          // has worked for another
    bool erred = false;         // since it was given out
    std::set<int> unseen;       // pictures that were decoded and not yet mapped
  };
  using DecoderPtr = std::shared_ptr<Decoder>;

  DecoderPtr take_idle(const CUVIDDECODECREATEINFO& wanted, CUcontext context);
  bool destroy_idle(CUcontext context);
  void destroy_all(const std::list<DecoderPtr>& idle);
  DecoderPtr find(CUvideodecoder handle);
  Decoded ask(const Decoder& decoder, int picture) const;
  Decoded check(Decoder& decoder, int picture);
  void settle(Decoder& decoder);

  const NvdecCalls calls_;
  std::mutex mutex_;  // of all below, and of what decoders hold; never held in a call of the driver's
  int most_ = 0;
  std::map<CUvideodecoder, DecoderPtr> busy_;
  std::list<DecoderPtr> idle_;  // the longest idle first
  std::map<CUstream, DecoderUse> uses_;
};

}  // namespace saccade
