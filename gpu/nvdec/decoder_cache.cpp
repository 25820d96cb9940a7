#if __has_include(<ffnvcodec/dynlink_cuviddec.h>)
#include "gpu/nvdec/decoder_cache.h"

#include <algorithm>
#include <chrono>
#include <thread>
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

constexpr auto kLongestDecoding = std::chrono::milliseconds(500);  // of one picture, others' in the queue before it
constexpr auto kPoll = std::chrono::microseconds(200);

struct Announced {
  const DecoderCache* to = nullptr;
  CUstream stream = nullptr;
  bool fresh = false;
};
thread_local Announced announced;

// A decoder's calls want its context current, which a thread of no stream doesn't have.
class Current {
 public:
  Current(const NvdecCalls& calls, CUcontext context) : calls_(calls), is_(calls.push(context) == CUDA_SUCCESS) {}
  ~Current() {
    CUcontext popped = nullptr;
    if (is_) calls_.pop(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  explicit operator bool() const { return is_; }  // false: the context is gone, and what belonged to it

 private:
  const NvdecCalls& calls_;
  const bool is_;
};

}  // namespace

void DecoderCache::keep(int most) {
  std::list<DecoderPtr> surplus;
  {
    const std::lock_guard lock(mutex_);
    most_ = most;
    while (!idle_.empty() && static_cast<int>(idle_.size() + busy_.size()) > most_)
      surplus.splice(surplus.end(), idle_, idle_.begin());
  }
  destroy_all(surplus);
}

bool DecoderCache::drop_idle() {
  std::list<DecoderPtr> all;
  {
    const std::lock_guard lock(mutex_);
    all = std::exchange(idle_, {});
  }
  destroy_all(all);
  return !all.empty();
}

void DecoderCache::destroy_all(const std::list<DecoderPtr>& idle) {
  for (const DecoderPtr& decoder : idle) {
    if (const Current current(calls_, decoder->context); current) calls_.destroy(decoder->handle);
  }
}

void DecoderCache::announce(CUstream stream, bool fresh) { announced = {this, stream, fresh}; }

DecoderUse DecoderCache::use(CUstream stream) {
  std::list<DecoderPtr> mine;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, decoder] : busy_) {
      if (decoder->stream == stream) mine.push_back(decoder);
    }
  }
  for (const DecoderPtr& decoder : mine) {
    if (const Current current(calls_, decoder->context); current) settle(*decoder);
  }
  const std::lock_guard lock(mutex_);
  const auto at = uses_.find(stream);
  return at != uses_.end() ? at->second : DecoderUse{};
}

void DecoderCache::forget(CUstream stream) {
  const std::lock_guard lock(mutex_);
  uses_.erase(stream);
}

DecoderCache::DecoderPtr DecoderCache::take_idle(const CUVIDDECODECREATEINFO& wanted, CUcontext context) {
  const auto at = std::find_if(idle_.begin(), idle_.end(), [&](const DecoderPtr& decoder) {
    return decoder->context == context && suits(decoder->made, wanted);
  });
  if (at == idle_.end()) return nullptr;
  DecoderPtr found = std::move(*at);
  idle_.erase(at);
  return found;
}

// The longest idle of this context, which is the calling thread's. False: there is none.
bool DecoderCache::destroy_idle(CUcontext context) {
  DecoderPtr oldest;
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(idle_.begin(), idle_.end(),
                                 [context](const DecoderPtr& decoder) { return decoder->context == context; });
    if (at == idle_.end()) return false;
    oldest = std::move(*at);
    idle_.erase(at);
  }
  calls_.destroy(oldest->handle);
  return true;
}

CUresult DecoderCache::create(CUvideodecoder* decoder, CUVIDDECODECREATEINFO* wanted) {
  const Announced given = std::exchange(announced, {});
  if (given.to != this) return calls_.create(decoder, wanted);
  auto made = std::make_shared<Decoder>();
  made->made = *wanted;  // as it was asked for: the driver writes there
  made->context = calls_.context();
  made->stream = given.stream;
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    if (DecoderPtr found = given.fresh ? nullptr : take_idle(*wanted, made->context)) {
      found->used = uses_[given.stream].used = true;
      found->stream = given.stream;
      *decoder = found->handle;
      busy_[*decoder] = std::move(found);
      return CUDA_SUCCESS;
    }
    full = static_cast<int>(idle_.size() + busy_.size()) >= most_;
  }
  if (full) destroy_idle(made->context);  // its place is for the new one
  CUresult result = calls_.create(decoder, wanted);
  while (result != CUDA_SUCCESS && destroy_idle(made->context)) {  // memory that idle ones hold
    *wanted = made->made;
    result = calls_.create(decoder, wanted);
  }
  if (result != CUDA_SUCCESS) return result;
  made->handle = *decoder;
  const std::lock_guard lock(mutex_);
  busy_[*decoder] = std::move(made);
  return result;
}

CUresult DecoderCache::destroy(CUvideodecoder handle) {
  if (const DecoderPtr decoder = find(handle)) {
    settle(*decoder);
    const std::lock_guard lock(mutex_);
    busy_.erase(handle);
    const bool room = static_cast<int>(idle_.size() + busy_.size()) < most_;
    if (room && !decoder->erred && !decoder->changed && tells_errors(decoder->made)) {
      decoder->stream = nullptr;
      idle_.push_back(decoder);
      return CUDA_SUCCESS;
    }
  }
  return calls_.destroy(handle);
}

DecoderCache::DecoderPtr DecoderCache::find(CUvideodecoder handle) {
  const std::lock_guard lock(mutex_);
  const auto at = busy_.find(handle);
  return at != busy_.end() ? at->second : nullptr;
}

// Waits while the picture is being decoded, which ends by itself.
DecoderCache::Decoded DecoderCache::ask(const Decoder& decoder, int picture) const {
  const auto until = std::chrono::steady_clock::now() + kLongestDecoding;
  for (;;) {
    CUVIDGETDECODESTATUS status{};
    if (calls_.status(decoder.handle, picture, &status) != CUDA_SUCCESS) return Decoded::kUnknown;
    if (status.decodeStatus == cuvidDecodeStatus_Success) return Decoded::kWhole;
    if (status.decodeStatus >= cuvidDecodeStatus_Error) return Decoded::kFailed;
    if (status.decodeStatus != cuvidDecodeStatus_InProgress || std::chrono::steady_clock::now() > until)
      return Decoded::kUnknown;
    std::this_thread::sleep_for(kPoll);
  }
}

DecoderCache::Decoded DecoderCache::check(Decoder& decoder, int picture) {
  if (!tells_errors(decoder.made)) return Decoded::kUnknown;  // and not kept
  const Decoded found = ask(decoder, picture);
  if (found != Decoded::kWhole) {
    const std::lock_guard lock(mutex_);
    decoder.erred = uses_[decoder.stream].erred = true;
  }
  return found;
}

// Pictures that nobody was shown: others that were may refer to them.
void DecoderCache::settle(Decoder& decoder) {
  std::set<int> pictures;
  {
    const std::lock_guard lock(mutex_);
    pictures = std::exchange(decoder.unseen, {});
  }
  for (const int picture : pictures) check(decoder, picture);
}

CUresult DecoderCache::reconfigure(CUvideodecoder handle, CUVIDRECONFIGUREDECODERINFO* wanted) {
  if (const DecoderPtr decoder = find(handle)) {
    const std::lock_guard lock(mutex_);
    decoder->changed = true;
  }
  return calls_.reconfigure(handle, wanted);
}

CUresult DecoderCache::decode(CUvideodecoder handle, CUVIDPICPARAMS* picture) {
  const DecoderPtr decoder = find(handle);
  if (decoder == nullptr) return calls_.decode(handle, picture);
  bool unseen = false;
  if (picture->second_field == 0) {
    const std::lock_guard lock(mutex_);
    unseen = !decoder->unseen.insert(picture->CurrPicIdx).second;
  }
  if (unseen) check(*decoder, picture->CurrPicIdx);  // the one before in its place
  const CUresult result = calls_.decode(handle, picture);
  if (result != CUDA_SUCCESS) {
    const std::lock_guard lock(mutex_);
    decoder->erred = uses_[decoder->stream].erred = true;
  }
  return result;
}

// A picture that is mapped has been decoded, and NVDEC says how.
CUresult DecoderCache::map(CUvideodecoder handle, int picture, unsigned long long* address, unsigned* pitch,
                           CUVIDPROCPARAMS* params) {
  const CUresult result = calls_.map(handle, picture, address, pitch, params);
  const DecoderPtr decoder = find(handle);
  if (decoder == nullptr) return result;
  {
    const std::lock_guard lock(mutex_);
    decoder->unseen.erase(picture);
  }
  if (check(*decoder, picture) == Decoded::kFailed) {
    const std::lock_guard lock(mutex_);
    ++uses_[decoder->stream].failed_shown;
  }
  return result;
}

}  // namespace saccade
#endif
