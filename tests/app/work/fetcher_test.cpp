// What becomes of a helper's answers.
#include "app/work/run/fetcher.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

// A helper that answers the first request with this fault.
std::vector<Fetched> fetched(int code, OpenItem& item) {
  const test::TempDir folder;
  const std::string program = folder.file("python");
  std::ofstream(program) << fmt::format(
      "#!/bin/sh\necho '{{\"ready\": true}}'\nread line\n"
      "echo '{{\"id\": 1, \"ok\": false, \"fault\": \"broken\", \"errno\": {}, \"line\": \"why\"}}'\nread line\n",
      code);
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  setenv("SACCADE_PYTHON", program.c_str(), 1);
  std::mutex mutex;
  std::condition_variable changed;
  bool answered = false;
  Fetcher fetcher(folder.path().string(), [&] {
    const std::lock_guard lock(mutex);
    answered = true;
    changed.notify_one();
  });
  fetcher.begin(item);
  unsetenv("SACCADE_PYTHON");
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return answered; });
  return fetcher.take();
}

TEST(Fetcher, FullDisk_IsNotTheVideosFault) {
  for (const int code : {ENOSPC, EDQUOT, EROFS}) {
    OpenItem item;
    item.item.uri = "s3://bucket/a.mp4";
    EXPECT_THROW(fetched(code, item), Error) << code;
  }
}

TEST(Fetcher, OtherFault_IsTheVideosOwn) {
  OpenItem item;
  item.item.uri = "s3://bucket/a.mp4";
  const std::vector<Fetched> all = fetched(EIO, item);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].end.why.kind, "io");
  EXPECT_EQ(all[0].end.why.line, "s3://bucket/a.mp4: why");
}

}  // namespace
}  // namespace saccade
