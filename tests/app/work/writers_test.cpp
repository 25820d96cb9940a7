// What is written once, from front to end: tar files and plans.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "app/work/commit/tar.h"
#include "app/work/plan/plan_writer.h"
#include "app/work/store/folder_store.h"
#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

// POSIX: a name fills at most the first 100 bytes of a header, and needs no NUL then.
TEST(TarWriter, Name_IsWholeOrRefused) {
  const test::TempDir folder;
  const std::string path = folder.file("a.tar"), longest(100, 'k');
  TarWriter tar(path);
  tar.add(longest, "x");
  EXPECT_THROW(tar.add(longest + "k", "x"), Error);
  tar.finish();
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes.substr(0, 100), longest);
  EXPECT_EQ(bytes.size(), 4U * 512) << "the refused member has left nothing";
}

// A folder that is planned as a bucket is: file by file.
class Bucket : public FolderStore {
 public:
  using FolderStore::FolderStore;
  bool is_folder() const override { return false; }
};

TEST(PlanWriter, OfTwoPlansInABucket_TheFirstWholeOneStays) {
  const test::TempDir folder;
  Bucket bucket(folder.path().string());
  Store& store = bucket;
  const auto plan = [&store](const std::string& uri) {
    WorkItem item;
    item.key = item.uri = uri;
    PlanWriter writer(store, 60, 1e9, 0);
    writer.add(item);
    return writer.finish({{"options", Json::object()}, {"settings", Json::object()}, {"duplicates", 0}});
  };
  EXPECT_TRUE(plan("a"));
  const auto whole = store.read("plan/plan.json");
  EXPECT_FALSE(plan("b")) << "the other planner's claim is there, and its plan is whole";
  EXPECT_EQ(store.read("plan/plan.json"), whole);
  store.remove("plan/plan.json");
  EXPECT_THROW(plan("b"), UsageError) << "it is not whole yet";
}

}  // namespace
}  // namespace saccade
