#if __has_include(<ffnvcodec/dynlink_cuviddec.h>)
#include "gpu/nvdec/decoder_cache.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace saccade {
namespace {

// Everything but the surfaces, of which there may be more.
auto kind_of(const CUVIDDECODECREATEINFO& made) {
  const auto& shown = made.display_area;
  const auto& target = made.target_rect;
  return std::make_tuple(made.CodecType, made.ChromaFormat, made.bitDepthMinus8, made.OutputFormat, made.ulWidth,
                         made.ulHeight, made.ulMaxWidth, made.ulMaxHeight, made.ulTargetWidth, made.ulTargetHeight,
                         made.ulCreationFlags, made.ulIntraDecodeOnly, made.DeinterlaceMode, made.enableHistogram,
                         made.vidLock, std::make_tuple(shown.left, shown.top, shown.right, shown.bottom),
                         std::make_tuple(target.left, target.top, target.right, target.bottom));
}

bool suits(const CUVIDDECODECREATEINFO& made, const CUVIDDECODECREATEINFO& wanted) {
  return kind_of(made) == kind_of(wanted) && made.ulNumDecodeSurfaces >= wanted.ulNumDecodeSurfaces &&
         made.ulNumOutputSurfaces >= wanted.ulNumOutputSurfaces;
}

bool tells_errors(const CUVIDDECODECREATEINFO& made) {
  return made.CodecType == cudaVideoCodec_H264 || made.CodecType == cudaVideoCodec_HEVC;
}

}  // namespace

void DecoderCache::keep(int most) {
  std::list<DecoderPtr> surplus;
  {
    const std::lock_guard lock(mutex_);
    most_ = most;
    while (DecoderPtr one = take_surplus()) surplus.push_back(std::move(one));
  }
  for (const DecoderPtr& decoder : surplus) calls_.destroy(decoder->handle);
}

void DecoderCache::make_new(bool on) {
  const std::lock_guard lock(mutex_);
  make_new_ += on ? 1 : -1;
}

DecoderUse DecoderCache::use(CUstream stream) const {
  const std::lock_guard lock(mutex_);
  const auto at = uses_.find(stream);
  return at != uses_.end() ? at->second : DecoderUse{};
}

void DecoderCache::forget(CUstream stream) {
  const std::lock_guard lock(mutex_);
  uses_.erase(stream);
  for (auto& [handle, decoder] : busy_) {
    if (decoder->stream == stream) decoder->stream = nullptr;
  }
}

DecoderCache::DecoderPtr DecoderCache::take_idle(const CUVIDDECODECREATEINFO& wanted, CUcontext context) {
  if (make_new_ > 0) return nullptr;
  const auto at = std::find_if(idle_.begin(), idle_.end(), [&](const DecoderPtr& decoder) {
    return decoder->context == context && suits(decoder->made, wanted);
  });
  if (at == idle_.end()) return nullptr;
  DecoderPtr found = std::move(*at);
  idle_.erase(at);
  return found;
}

// The longest idle, while there are more decoders than are kept.
DecoderCache::DecoderPtr DecoderCache::take_surplus() {
  if (idle_.empty() || static_cast<int>(idle_.size() + busy_.size()) <= most_) return nullptr;
  DecoderPtr oldest = std::move(idle_.front());
  idle_.pop_front();
  return oldest;
}

CUresult DecoderCache::create(CUvideodecoder* decoder, CUVIDDECODECREATEINFO* wanted) {
  auto made = std::make_unique<Decoder>();
  made->made = *wanted;  // as it was asked for: the driver writes there
  made->context = calls_.context();
  DecoderPtr surplus;
  {
    const std::lock_guard lock(mutex_);
    if (DecoderPtr found = take_idle(*wanted, made->context)) {
      found->used = true;
      *decoder = found->handle;
      busy_[*decoder] = std::move(found);
      return CUDA_SUCCESS;
    }
    if (!idle_.empty() && static_cast<int>(idle_.size() + busy_.size()) >= most_) {
      surplus = std::move(idle_.front());  // its place is for the new one
      idle_.pop_front();
    }
  }
  if (surplus != nullptr) calls_.destroy(surplus->handle);
  const CUresult result = calls_.create(decoder, wanted);
  if (result != CUDA_SUCCESS) return result;
  made->handle = *decoder;
  const std::lock_guard lock(mutex_);
  busy_[*decoder] = std::move(made);
  return result;
}

CUresult DecoderCache::destroy(CUvideodecoder handle) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = busy_.find(handle);
    if (at != busy_.end()) {
      DecoderPtr decoder = std::move(at->second);
      busy_.erase(at);
      const bool room = static_cast<int>(idle_.size() + busy_.size()) < most_;
      if (room && !decoder->erred && !decoder->changed && tells_errors(decoder->made)) {
        decoder->stream = nullptr;
        decoder->unseen.clear();
        idle_.push_back(std::move(decoder));
        return CUDA_SUCCESS;
      }
    }
  }
  return calls_.destroy(handle);
}

DecoderCache::Decoder* DecoderCache::find(CUvideodecoder handle) {
  const auto at = busy_.find(handle);
  return at != busy_.end() ? at->second.get() : nullptr;
}

// Whether it was decoded whole. A picture that is still being decoded counts as failed: nobody looks at it again.
bool DecoderCache::check(Decoder& decoder, int picture) {
  CUVIDGETDECODESTATUS status{};
  const CUresult asked = calls_.status(decoder.handle, picture, &status);
  if (asked == CUDA_SUCCESS && status.decodeStatus == cuvidDecodeStatus_Success) return true;
  const std::lock_guard lock(mutex_);
  decoder.erred = true;
  if (decoder.stream != nullptr) uses_[decoder.stream].erred = true;
  return false;
}

CUresult DecoderCache::reconfigure(CUvideodecoder handle, CUVIDRECONFIGUREDECODERINFO* wanted) {
  {
    const std::lock_guard lock(mutex_);
    if (Decoder* const decoder = find(handle)) decoder->changed = true;
  }
  return calls_.reconfigure(handle, wanted);
}

// FFmpeg calls for one decoder from one thread at a time, so that a decoder found outlives its call.
CUresult DecoderCache::decode(CUvideodecoder handle, CUVIDPICPARAMS* picture) {
  Decoder* decoder = nullptr;
  bool unseen = false;
  {
    const std::lock_guard lock(mutex_);
    decoder = find(handle);
    if (decoder != nullptr && picture->second_field == 0) unseen = !decoder->unseen.insert(picture->CurrPicIdx).second;
  }
  if (unseen && tells_errors(decoder->made)) check(*decoder, picture->CurrPicIdx);
  const CUresult result = calls_.decode(handle, picture);
  if (result != CUDA_SUCCESS && decoder != nullptr) {
    const std::lock_guard lock(mutex_);
    decoder->erred = true;
  }
  return result;
}

// A picture that is mapped has been decoded, and NVDEC says how.
CUresult DecoderCache::map(CUvideodecoder handle, int picture, unsigned long long* address, unsigned* pitch,
                           CUVIDPROCPARAMS* params) {
  const CUresult result = calls_.map(handle, picture, address, pitch, params);
  Decoder* decoder = nullptr;
  {
    const std::lock_guard lock(mutex_);
    decoder = find(handle);
    if (decoder == nullptr) return result;
    decoder->unseen.erase(picture);
    decoder->stream = params->output_stream;
    if (decoder->stream != nullptr) {
      DecoderUse& use = uses_[decoder->stream];
      use.used = use.used || decoder->used;
      use.erred = use.erred || decoder->erred;
    }
  }
  if (tells_errors(decoder->made) && !check(*decoder, picture) && params->output_stream != nullptr) {
    const std::lock_guard lock(mutex_);
    ++uses_[params->output_stream].failed_shown;
  }
  return result;
}

}  // namespace saccade
#endif
