// Emissions in the caller's device memory: the bytes of the host's, in the order of the caller's stream, and the host
// waits for nothing.
#include <gmock/gmock.h>

#include <future>
#include <memory>
#include <string>

#include "tests/capi/cuda/device_room.h"

namespace saccade::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr const char* kUri = "test://box?size=333x211&frames=40&rate=25";

class DeviceTarget : public DeviceTest {
 protected:
  static Settings settings(const char* fixation, const char* lattice) {
    return {{"backend", "cuda"}, {"every", "frame"}, {"fixation", fixation}, {"lattice", lattice}};
  }
};

// Both streams alike, one through page-locked memory, one into memory of ours on the device.
void expect_equal(const Settings& settings, int dtype, bool on_legacy_stream) {
  const StreamHandle theirs = open_stream(kUri, settings), ours = open_stream(kUri, settings);
  const CallerStream stream;
  DeviceRoom room(geometry_of(ours), dtype, on_legacy_stream ? nullptr : stream.get());
  int emissions = 0;
  for (;; ++emissions) {
    const Taken wanted = take_next(theirs);
    auto facts = sized<saccade_emission_view>();
    ASSERT_EQ(saccade_stream_next_into(ours.get(), -1, &room.target, &facts), wanted.status) << saccade_last_error();
    if (wanted.status == SACCADE_END) break;
    EXPECT_EQ(facts.frame, wanted.facts.frame);
    EXPECT_EQ(facts.patches, room.target.patches);
    EXPECT_EQ(facts.changed, nullptr);
    EXPECT_EQ(std::vector<float>(facts.geometry, facts.geometry + wanted.geometry.size()), wanted.geometry);
    expect_cuda(cudaStreamSynchronize(on_legacy_stream ? cudaStreamLegacy : stream.get()));
    ASSERT_EQ(room.patches.values<std::uint8_t>(), wanted.patches) << emissions;
    ASSERT_EQ(room.geometry.values<float>(), wanted.geometry) << emissions;
    ASSERT_EQ(room.changed.values<std::uint8_t>(), wanted.changed) << emissions;
    ASSERT_EQ(room.damaged_tiles.values<std::int32_t>()[0], wanted.facts.damaged_tiles) << emissions;
  }
  EXPECT_EQ(emissions, 40);
  auto wanted = sized<saccade_counters>(), counted = sized<saccade_counters>();
  ASSERT_EQ(saccade_stream_get_counters(theirs.get(), &wanted), SACCADE_OK);
  ASSERT_EQ(saccade_stream_get_counters(ours.get(), &counted), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(counted.damaged_tiles, wanted.damaged_tiles);
  EXPECT_EQ(counted.bytes_uploaded, wanted.bytes_uploaded);
  EXPECT_EQ(counted.patches_changed, wanted.patches_changed);
  EXPECT_EQ(counted.patches, wanted.patches);
}

TEST_F(DeviceTarget, EveryPolicyAndLattice_EqualsTheHosts) {
  for (const char* const fixation : {"center", "raster", "random", "saliency"}) {
    for (const char* const lattice : {"nested", "grid", "uniform", "adaptive"}) {
      SCOPED_TRACE(std::string(fixation) + " " + lattice);
      expect_equal(settings(fixation, lattice), SACCADE_U8, false);
    }
  }
}

TEST_F(DeviceTarget, LegacyDefaultStream_IsOrderedToo) { expect_equal(settings("raster", "nested"), SACCADE_U8, true); }

TEST_F(DeviceTarget, EveryDtype_EqualsTheHosts) {
  for (const auto& [name, dtype] : {std::pair{"f16", SACCADE_F16}, std::pair{"f32", SACCADE_F32}}) {
    Settings wanted = settings("raster", "nested");
    wanted.emplace_back("dtype", name);
    expect_equal(wanted, dtype, false);
  }
}

TEST_F(DeviceTarget, OtherMemory_IsRefusedAndNothingIsLost) {
  const StreamHandle stream = open_stream(kUri, settings("center", "nested"));
  DeviceRoom room(geometry_of(stream));
  HostRoom host(geometry_of(stream));
  saccade_target wrong = room.target;
  wrong.patches = host.target.patches;
  EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &wrong, nullptr), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("not on CUDA device 0"));
  wrong = room.target;
  wrong.changed = host.target.changed;
  EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &wrong, nullptr), SACCADE_ERROR_USAGE);
  wrong = room.target;
  wrong.device = 7;
  EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &wrong, nullptr), SACCADE_ERROR_USAGE);
  auto facts = sized<saccade_emission_view>();
  ASSERT_EQ(saccade_stream_next_into(stream.get(), -1, &room.target, &facts), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(facts.frame, 0);
}

TEST_F(DeviceTarget, HostAndDeviceAlternating_ChangeEverything) {
  const StreamHandle stream = open_stream("test://static?size=64x64&frames=9", settings("center", "nested"));
  DeviceRoom room(geometry_of(stream));
  HostRoom host(geometry_of(stream));
  const auto on_device = [&] {
    EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &room.target, nullptr), SACCADE_OK) << saccade_last_error();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return room.changed.values<std::uint8_t>();
  };
  const auto on_host = [&] {
    EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &host.target, nullptr), SACCADE_OK) << saccade_last_error();
    return host.changed;
  };
  EXPECT_THAT(on_device(), Each(1));
  EXPECT_THAT(on_device(), Each(0));
  EXPECT_THAT(on_host(), Each(1));
  EXPECT_THAT(on_host(), Each(0));
  EXPECT_THAT(on_device(), Each(1));
  EXPECT_THAT(on_device(), Each(0));
}

// While the caller's stream stands still the call returns; a call that waited for it would never.
TEST_F(DeviceTarget, CallersStreamHeldUp_DoesNotHoldTheHost) {
  const StreamHandle stream = open_stream(kUri, settings("center", "nested"));
  CallerStream caller;
  DeviceRoom first(geometry_of(stream), SACCADE_U8, caller.get());
  DeviceRoom second(geometry_of(stream), SACCADE_U8, caller.get());
  ASSERT_EQ(saccade_stream_next_into(stream.get(), -1, &first.target, nullptr), SACCADE_OK) << saccade_last_error();
  caller.wait();
  caller.hold();
  auto call = std::async(std::launch::async,
                         [&] { return saccade_stream_next_into(stream.get(), -1, &second.target, nullptr); });
  EXPECT_EQ(call.wait_for(std::chrono::seconds(10)), std::future_status::ready) << "the host waited";
  caller.release();
  EXPECT_EQ(call.get(), SACCADE_OK);
  caller.wait();
  const StreamHandle again = open_stream(kUri, settings("center", "nested"));
  static_cast<void>(take_next(again));
  EXPECT_EQ(second.patches.values<std::uint8_t>(), take_next(again).patches);
}

// As an allocator of torch's would: memory is taken on the caller's stream, filled, copied from, given back and taken
// again, while the device lags behind. A write too early or too late shows in the copy.
TEST_F(DeviceTarget, MemoryReusedInStreamOrder_HoldsTheRightBytes) {
  const Settings by_frame = settings("raster", "nested");
  const char* const uri = "test://noise?size=320x240&frames=200&rate=25";
  const StreamHandle theirs = open_stream(uri, by_frame), ours = open_stream(uri, by_frame);
  const saccade_geometry geometry = geometry_of(ours);
  CallerStream caller;
  const std::size_t bytes = geometry.patches_bytes;
  std::vector<std::vector<std::uint8_t>> wanted;
  DeviceBytes kept(bytes * 200);
  for (int i = 0; i < 200; ++i) {
    const Taken taken = take_next(theirs);
    ASSERT_EQ(taken.status, SACCADE_OK);
    wanted.push_back(taken.patches);
    void* memory = nullptr;
    expect_cuda(cudaMallocAsync(&memory, bytes, caller.get()));
    if (i % 4 == 0) caller.delay();
    expect_cuda(cudaMemsetAsync(memory, 0xaa, bytes, caller.get()));  // must come before
    auto target = sized<saccade_target>();
    target.memory = SACCADE_CUDA;
    target.patches = memory;
    target.patches_bytes = bytes;
    target.cuda_stream = caller.get();
    ASSERT_EQ(saccade_stream_next_into(ours.get(), -1, &target, nullptr), SACCADE_OK) << saccade_last_error();
    expect_cuda(cudaMemcpyAsync(kept.as<std::uint8_t>() + bytes * static_cast<std::size_t>(i), memory, bytes,
                                cudaMemcpyDeviceToDevice, caller.get()));
    expect_cuda(cudaMemsetAsync(memory, 0x55, bytes, caller.get()));  // must come after
    expect_cuda(cudaFreeAsync(memory, caller.get()));
  }
  caller.wait();
  const auto all = kept.values<std::uint8_t>();
  int wrong = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wrong += std::memcmp(all.data() + bytes * i, wanted[i].data(), bytes) != 0 ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0) << "of 200";
}

TEST_F(DeviceTarget, ManyStreamsAndThreads_EqualTheHosts) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [i] { expect_equal(settings(i % 2 == 0 ? "raster" : "saliency", "nested"), SACCADE_U8, false); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DeviceTarget, OpenedAndFreed_LeavesNoMemory) {
  const auto use = [] {
    auto now = sized<saccade_memory_use>();
    EXPECT_EQ(saccade_get_memory_use(&now), SACCADE_OK);
    return now;
  };
  const auto round = [] {
    const StreamHandle stream = open_stream(kUri, settings("center", "nested"));
    DeviceRoom room(geometry_of(stream));
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(saccade_stream_next_into(stream.get(), -1, &room.target, nullptr), SACCADE_OK) << saccade_last_error();
    }
  };
  round();
  const saccade_memory_use before = use();
  std::size_t free_before = 0, free_after = 0, total = 0;
  expect_cuda(cudaMemGetInfo(&free_before, &total));
  for (int i = 0; i < 30; ++i) round();
  expect_cuda(cudaMemGetInfo(&free_after, &total));
  EXPECT_EQ(use().device_bytes, before.device_bytes);
  EXPECT_EQ(use().pinned_bytes, before.pinned_bytes);
  EXPECT_EQ(use().streams, before.streams);
  EXPECT_LT(free_before, free_after + (std::size_t{16} << 20)) << "bytes of device memory in 30 rounds";
}

}  // namespace
}  // namespace saccade::test
