#include "gpu/nvdec/decoder_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace saccade {
namespace {

CUcontext context_of(std::uintptr_t number) { return reinterpret_cast<CUcontext>(number); }
CUstream stream_of(std::uintptr_t number) { return reinterpret_cast<CUstream>(number); }

// A driver that counts: decoders are numbers from 1 on.
struct FakeDriver {
  std::mutex mutex;
  std::vector<bool> alive{false};
  std::vector<std::uintptr_t> destroyed;
  std::size_t room = 100;  // decoders, then there is no memory
  cuvidDecodeStatus status = cuvidDecodeStatus_Success;
  CUresult asked = CUDA_SUCCESS;      // what the question for it gives
  std::atomic<int> in_progress{0};    // questions that are still answered so
  CUcontext context = context_of(7);  // the current one
  std::vector<CUcontext> below;       // it on the stack of contexts
  std::vector<CUcontext> destroyed_in;

  static std::uintptr_t number(CUvideodecoder decoder) { return reinterpret_cast<std::uintptr_t>(decoder); }

  NvdecCalls calls() {
    return {[this](CUvideodecoder* made, CUVIDDECODECREATEINFO* wanted) {
              wanted->Reserved1 = wanted->ulMaxWidth = 4096;  // the real one writes there, too
              const std::lock_guard lock(mutex);
              if (living() >= room) return CUDA_ERROR_UNKNOWN;
              *made = reinterpret_cast<CUvideodecoder>(alive.size());
              alive.push_back(true);
              return CUDA_SUCCESS;
            },
            [this](CUvideodecoder decoder) {
              const std::lock_guard lock(mutex);
              EXPECT_TRUE(alive.at(number(decoder)));
              alive.at(number(decoder)) = false;
              destroyed.push_back(number(decoder));
              destroyed_in.push_back(context);
              return CUDA_SUCCESS;
            },
            [](CUvideodecoder, CUVIDPICPARAMS*) { return CUDA_SUCCESS; },
            [](CUvideodecoder, int, unsigned long long*, unsigned*, CUVIDPROCPARAMS*) { return CUDA_SUCCESS; },
            [this](CUvideodecoder, int, CUVIDGETDECODESTATUS* out) {
              out->decodeStatus = in_progress-- > 0 ? cuvidDecodeStatus_InProgress : status;
              return asked;
            },
            [](CUvideodecoder, CUVIDRECONFIGUREDECODERINFO*) { return CUDA_SUCCESS; },
            [this] { return context; },
            [this](CUcontext pushed) {
              below.push_back(std::exchange(context, pushed));
              return CUDA_SUCCESS;
            },
            [this](CUcontext* popped) {
              *popped = std::exchange(context, below.back());
              below.pop_back();
              return CUDA_SUCCESS;
            }};
  }
  std::size_t made() const { return alive.size() - 1; }
  std::size_t living() const { return static_cast<std::size_t>(std::count(alive.begin(), alive.end(), true)); }
};

CUVIDDECODECREATEINFO info_of(unsigned long width = 1920, cudaVideoCodec codec = cudaVideoCodec_H264) {
  CUVIDDECODECREATEINFO info{};
  info.CodecType = codec;
  info.ChromaFormat = cudaVideoChromaFormat_420;
  info.ulWidth = info.ulTargetWidth = width;
  info.ulHeight = info.ulTargetHeight = 1088;
  info.ulNumDecodeSurfaces = info.ulNumOutputSurfaces = 10;
  return info;
}

class Kept : public testing::Test {
 protected:
  explicit Kept(int most = 4) { cache.keep(most); }
  CUvideodecoder make(CUVIDDECODECREATEINFO info = info_of(), CUstream stream = stream_of(1), bool fresh = false) {
    CUvideodecoder decoder = nullptr;
    cache.announce(stream, fresh);
    EXPECT_EQ(cache.create(&decoder, &info), CUDA_SUCCESS);
    return decoder;
  }
  void decode(CUvideodecoder decoder, int picture, bool second_field = false) {
    CUVIDPICPARAMS params{};
    params.CurrPicIdx = picture;
    params.second_field = second_field ? 1 : 0;
    EXPECT_EQ(cache.decode(decoder, &params), CUDA_SUCCESS);
  }
  void map(CUvideodecoder decoder, int picture) {
    CUVIDPROCPARAMS params{};
    unsigned long long address = 0;
    unsigned pitch = 0;
    EXPECT_EQ(cache.map(decoder, picture, &address, &pitch, &params), CUDA_SUCCESS);
  }
  void show(CUvideodecoder decoder) {
    decode(decoder, 0);
    map(decoder, 0);
  }

  FakeDriver driver;
  DecoderCache cache{driver.calls()};
};

TEST_F(Kept, Destroyed_GoesToTheNextLikeIt) {
  const CUvideodecoder first = make();
  cache.destroy(first);
  EXPECT_EQ(make(), first);
  EXPECT_NE(make(), first);  // that one is at work
  EXPECT_EQ(driver.made(), 2U);
  EXPECT_TRUE(driver.destroyed.empty());
}

TEST_F(Kept, AnotherKind_IsMadeNew) {
  const CUvideodecoder first = make();
  cache.destroy(first);
  std::vector<CUVIDDECODECREATEINFO> others(5, info_of());
  others[0].ulWidth = 1280;
  others[1].CodecType = cudaVideoCodec_HEVC;
  others[2].bitDepthMinus8 = 2;
  others[3].display_area.right = 1912;
  others[4].ulNumDecodeSurfaces = 11;
  cache.keep(9);
  for (const CUVIDDECODECREATEINFO& other : others) EXPECT_NE(make(other), first);
  driver.context = nullptr;
  EXPECT_NE(make(), first);
}

TEST_F(Kept, FewerSurfaces_SuitToo) {
  const CUvideodecoder first = make();
  cache.destroy(first);
  CUVIDDECODECREATEINFO fewer = info_of();
  fewer.ulNumDecodeSurfaces = fewer.ulNumOutputSurfaces = 6;
  EXPECT_EQ(make(fewer), first);
}

TEST_F(Kept, MoreThanAreKept_TheLongestIdleGoes) {
  std::vector<CUvideodecoder> made;
  for (unsigned long width = 100; width <= 400; width += 100) made.push_back(make(info_of(width)));
  for (const CUvideodecoder decoder : made) cache.destroy(decoder);
  EXPECT_EQ(driver.living(), 4U);
  make(info_of(500));
  make(info_of(600));
  EXPECT_EQ(driver.living(), 4U);
  EXPECT_EQ(driver.destroyed, (std::vector<std::uintptr_t>{1, 2}));
  cache.keep(3);
  EXPECT_EQ(driver.destroyed.back(), 3U);
}

TEST_F(Kept, MoreAtWorkThanAreKept_AreDestroyedAtTheirEnd) {
  cache.keep(1);
  const CUvideodecoder first = make(), second = make();
  cache.destroy(first);
  EXPECT_EQ(driver.living(), 1U);
  cache.destroy(second);
  EXPECT_EQ(make(), second);
}

TEST_F(Kept, Nothing_IsKeptByDefault) {
  DecoderCache none(driver.calls());
  CUVIDDECODECREATEINFO info = info_of();
  CUvideodecoder decoder = nullptr;
  none.announce(stream_of(1), false);
  none.create(&decoder, &info);
  none.destroy(decoder);
  EXPECT_EQ(driver.living(), 0U);
}

TEST_F(Kept, NotAnnounced_IsTheDriversAlone) {
  CUVIDDECODECREATEINFO info = info_of();
  CUvideodecoder stranger = nullptr;
  cache.destroy(make());
  ASSERT_EQ(cache.create(&stranger, &info), CUDA_SUCCESS);
  EXPECT_EQ(driver.made(), 2U);
  cache.destroy(stranger);
  EXPECT_EQ(driver.living(), 1U);
}

TEST_F(Kept, NoMemory_IdleOnesGo) {
  cache.destroy(make(info_of(100)));
  const CUvideodecoder working = make(info_of(200));
  driver.room = 2;
  EXPECT_NE(make(info_of(300)), nullptr);
  EXPECT_EQ(driver.destroyed, (std::vector<std::uintptr_t>{1}));
  CUVIDDECODECREATEINFO info = info_of(400);
  CUvideodecoder decoder = nullptr;
  cache.announce(stream_of(1), false);
  EXPECT_EQ(cache.create(&decoder, &info), CUDA_ERROR_UNKNOWN);
  cache.destroy(working);
  EXPECT_TRUE(cache.drop_idle());
  EXPECT_EQ(driver.living(), 1U);
  EXPECT_FALSE(cache.drop_idle());
}

TEST_F(Kept, DestroyedByAThreadOfNoStream_ItsContextIsCurrent) {
  for (const std::uintptr_t context : {7, 8, 9}) {
    driver.context = context_of(context);
    cache.destroy(make());
  }
  driver.context = nullptr;
  cache.keep(2);
  EXPECT_TRUE(cache.drop_idle());
  EXPECT_EQ(driver.destroyed_in, (std::vector<CUcontext>{context_of(7), context_of(8), context_of(9)}));
  EXPECT_EQ(driver.context, nullptr) << "what was current is again";
}

TEST_F(Kept, CodecThatTellsNoErrors_IsNotKept) {
  for (const cudaVideoCodec codec : {cudaVideoCodec_VP9, cudaVideoCodec_AV1, cudaVideoCodec_MPEG2})
    cache.destroy(make(info_of(640, codec)));
  EXPECT_EQ(driver.living(), 0U);
}

TEST_F(Kept, Use_IsToldByTheStream) {
  const CUvideodecoder first = make(info_of(), stream_of(1));
  show(first);
  EXPECT_FALSE(cache.use(stream_of(1)).used);
  cache.destroy(first);
  show(make(info_of(), stream_of(2)));
  EXPECT_TRUE(cache.use(stream_of(2)).used);
  EXPECT_FALSE(cache.use(stream_of(2)).erred);
  EXPECT_FALSE(cache.use(stream_of(1)).used);
  cache.forget(stream_of(2));
  EXPECT_FALSE(cache.use(stream_of(2)).used);
}

TEST_F(Kept, FailedPicture_IsToldAndTheDecoderGoes) {
  const CUvideodecoder decoder = make();
  driver.status = cuvidDecodeStatus_Error_Concealed;
  show(decoder);
  show(decoder);
  EXPECT_TRUE(cache.use(stream_of(1)).erred);
  EXPECT_EQ(cache.use(stream_of(1)).failed_shown, 2);
  cache.destroy(decoder);
  EXPECT_EQ(driver.living(), 0U);
}

TEST_F(Kept, FailedPictureThatIsNotShown_IsToldAtItsSurfacesNextUse) {
  const CUvideodecoder decoder = make();
  decode(decoder, 3);
  driver.status = cuvidDecodeStatus_Error;
  decode(decoder, 3);
  driver.status = cuvidDecodeStatus_Success;
  show(decoder);
  EXPECT_TRUE(cache.use(stream_of(1)).erred);
  EXPECT_EQ(cache.use(stream_of(1)).failed_shown, 0);
}

TEST_F(Kept, FailedPictureThatACutLeavesOut_IsToldAtTheEnd) {
  const CUvideodecoder decoder = make();
  decode(decoder, 0);
  decode(decoder, 4);  // others refer to it, and are shown before it
  map(decoder, 0);
  driver.status = cuvidDecodeStatus_Error;
  EXPECT_TRUE(cache.use(stream_of(1)).erred);
  driver.status = cuvidDecodeStatus_Success;
  const CUvideodecoder other = make(info_of(), stream_of(2));
  decode(other, 4);
  driver.status = cuvidDecodeStatus_Error;
  cache.destroy(other);
  cache.destroy(decoder);
  EXPECT_EQ(driver.living(), 0U);
}

TEST_F(Kept, PictureThatIsBeingDecoded_IsWaitedFor) {
  const CUvideodecoder decoder = make();
  driver.in_progress = 5;
  show(decoder);
  decode(decoder, 3);
  driver.in_progress = 5;
  EXPECT_FALSE(cache.use(stream_of(1)).erred);
}

TEST_F(Kept, DriverThatDoesNotTell_IsNoDamage) {
  const CUvideodecoder decoder = make();
  driver.asked = CUDA_ERROR_UNKNOWN;
  show(decoder);
  EXPECT_TRUE(cache.use(stream_of(1)).erred);
  EXPECT_EQ(cache.use(stream_of(1)).failed_shown, 0);
  cache.destroy(decoder);
  EXPECT_EQ(driver.living(), 0U);
}

TEST_F(Kept, SecondField_IsTheSamePicture) {
  const CUvideodecoder decoder = make();
  decode(decoder, 0);
  driver.status = cuvidDecodeStatus_Error;
  decode(decoder, 0, true);
  driver.status = cuvidDecodeStatus_Success;
  map(decoder, 0);
  EXPECT_FALSE(cache.use(stream_of(1)).erred);
}

TEST_F(Kept, Reconfigured_IsNotKept) {
  const CUvideodecoder decoder = make();
  CUVIDRECONFIGUREDECODERINFO wanted{};
  EXPECT_EQ(cache.reconfigure(decoder, &wanted), CUDA_SUCCESS);
  cache.destroy(decoder);
  EXPECT_EQ(driver.living(), 0U);
}

TEST_F(Kept, Fresh_WorkedForNobody) {
  const CUvideodecoder first = make();
  cache.destroy(first);
  const CUvideodecoder fresh = make(info_of(), stream_of(2), true);
  EXPECT_NE(fresh, first);
  show(fresh);
  EXPECT_FALSE(cache.use(stream_of(2)).used);
  EXPECT_EQ(make(info_of(), stream_of(3)), first);
}

TEST_F(Kept, FromManyThreads_NoneIsGivenTwiceAndNoneIsLost) {
  constexpr int kThreads = 8, kRounds = 500, kMost = 6;
  cache.keep(kMost);
  std::vector<std::atomic<int>> at_work(kThreads * kRounds + 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < kRounds; ++i) {
        const CUvideodecoder decoder =
            make(info_of(100 * (1 + random() % 3)), stream_of(static_cast<std::uintptr_t>(t) + 1));
        EXPECT_EQ(at_work.at(FakeDriver::number(decoder))++, 0);
        show(decoder);
        at_work.at(FakeDriver::number(decoder))--;
        cache.destroy(decoder);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(driver.living(), static_cast<std::size_t>(kMost));
  EXPECT_LT(driver.made(), static_cast<std::size_t>(kThreads * kRounds));
  cache.keep(0);
  EXPECT_EQ(driver.living(), 0U);
}

}  // namespace
}  // namespace saccade
