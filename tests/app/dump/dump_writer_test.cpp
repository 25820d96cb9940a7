#include "app/dump/dump_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/device_error.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

constexpr DumpShape kShape{1, 16, SampleType::kU8, 64, 64, false};
constexpr std::size_t kBytes = 3 * 16 * 16;

// A device's memory: there, or of a device that is gone.
class FakeMemory : public PatchMemory {
 public:
  explicit FakeMemory(bool gone) : gone_(gone) {}
  std::byte* data() override { return bytes_; }
  void wait() const override {
    if (gone_) throw DeviceError("the device is gone");
  }

 private:
  alignas(64) std::byte bytes_[kBytes + 64] = {};
  bool gone_;
};

Emission emission(bool gone) {
  Emission e;
  e.batch = PatchBatch(1, 16, SampleFormat{}, std::make_unique<FakeMemory>(gone));
  e.plan.patches.resize(1);
  e.changed.resize(1);
  return e;
}

TEST(DumpWriter, DeviceFailed_KeepsTheRowsBefore) {
  const test::TempDir folder;
  std::vector<Emission> slots;
  for (const bool gone : {false, false, true}) slots.push_back(emission(gone));
  EmissionQueue queue(std::move(slots));
  std::vector<Emission*> taken;
  for (int n = 0; n < 3; ++n) taken.push_back(queue.acquire());
  std::sort(taken.begin(), taken.end());  // the slots' order: the last one's device is gone
  for (Emission* slot : taken) queue.submit(slot);
  queue.finish();
  bool told = false;
  DumpWriter writer(std::make_unique<DumpFiles>(folder.path().string(), kShape), queue, [&] { told = true; });
  try {
    writer.finish();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnavailable);
    EXPECT_STREQ(error.what(), "the device is gone");
  }
  EXPECT_TRUE(told);
  EXPECT_TRUE(writer.failed());
  EXPECT_EQ(writer.files().rows_flushed(), 2);
  EXPECT_EQ(std::filesystem::file_size(folder.file("patches.npy")), 256 + 2 * kBytes);
}

}  // namespace
}  // namespace saccade
