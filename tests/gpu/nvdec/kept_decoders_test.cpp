// The library that stands in for the driver's, against a driver that isn't one (fake/driver.cpp): tests/CMakeLists.txt
// puts it where the name is looked up.
#include "gpu/nvdec/kept_decoders.h"

#include <dlfcn.h>
#include <ffnvcodec/dynlink_loader.h>
#include <gtest/gtest.h>

namespace saccade {
namespace {

int made_by_driver() {
  void* const driver = dlopen(SACCADE_FAKE_DRIVER, RTLD_LAZY | RTLD_NOLOAD);
  const auto made = driver != nullptr ? reinterpret_cast<int (*)()>(dlsym(driver, "fake_made")) : nullptr;
  return made != nullptr ? made() : -1;
}

// As FFmpeg does it: the driver's library by its name, then its calls.
TEST(KeptDecoders, WhoOpensTheDriverByName_GetsThem) {
  ASSERT_EQ(keep_decoders(SACCADE_NVCUVID, 2), "");
  ASSERT_EQ(keep_decoders(SACCADE_NVCUVID, 2), "") << "once more";
  CuvidFunctions* calls = nullptr;
  ASSERT_EQ(cuvid_load_functions(&calls, nullptr), 0) << "each call that FFmpeg wants";
  CUVIDDECODECREATEINFO info{};
  info.CodecType = cudaVideoCodec_HEVC;
  CUvideodecoder first = nullptr, second = nullptr;
  int stream = 0;
  announce_decoder(&stream, false);
  ASSERT_EQ(calls->cuvidCreateDecoder(&first, &info), CUDA_SUCCESS);
  EXPECT_EQ(made_by_driver(), 1);
  EXPECT_EQ(calls->cuvidDestroyDecoder(first), CUDA_SUCCESS);
  announce_decoder(&stream, false);
  ASSERT_EQ(calls->cuvidCreateDecoder(&second, &info), CUDA_SUCCESS);
  EXPECT_EQ(second, first);
  EXPECT_TRUE(decoders_of(&stream).used);
  EXPECT_EQ(calls->cuvidDestroyDecoder(second), CUDA_SUCCESS);
  announce_decoder(&stream, true);
  ASSERT_EQ(calls->cuvidCreateDecoder(&second, &info), CUDA_SUCCESS);
  EXPECT_EQ(made_by_driver(), 2);
  CUVIDDECODECAPS caps{};
  EXPECT_EQ(calls->cuvidGetDecoderCaps(&caps), CUDA_SUCCESS);
  EXPECT_EQ(caps.nMaxWidth, 4321U) << "passed on";
  cuvid_free_functions(&calls);
  EXPECT_FALSE(decoders_of(nullptr).used);
}

TEST(KeptDecoders, AWrongLibrary_SaysSo) {
  EXPECT_NE(keep_decoders("/nowhere/libnvcuvid.so.1", 2).find("/nowhere"), std::string::npos);
}

}  // namespace
}  // namespace saccade
