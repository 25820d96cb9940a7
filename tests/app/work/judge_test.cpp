// Which inputs are held back, where an input lies, and when so many bad videos are the installation's fault.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/work/judge/ended.h"
#include "app/work/judge/folder.h"
#include "app/work/judge/held.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<int>;

TEST(Held, Input_WaitsUntilOneThatWasBegunLaterIsRead) {
  Held<int> held;
  held.hold("/in", 1, 5);
  EXPECT_EQ(held.read("/in", 4), Numbers{}) << "it was begun before: its file may have been open already";
  EXPECT_EQ(held.read("/in", 5), Numbers{});
  EXPECT_EQ(held.read("/elsewhere", 6), Numbers{});
  EXPECT_EQ(held.count(), 1);
  EXPECT_EQ(held.read("/in", 6), Numbers{1});
  EXPECT_TRUE(held.empty());
}

TEST(Held, FolderThatGoesAgain_KeepsWhatFailedSince) {
  Held<int> held;
  held.hold("/in", 1, 5);
  held.hold("/in", 2, 9);
  EXPECT_EQ(held.read("/in", 7), Numbers{1});
  EXPECT_EQ(held.items(), Numbers{2});
}

TEST(Held, TwentyInARow_AreTooMany) {
  Held<int> held;
  for (int i = 0; i < 19; ++i) held.hold(i % 2 == 0 ? "/a" : "/b", i, i);
  EXPECT_FALSE(held.too_many_in_a_row());
  held.read("/c", 30);
  held.hold("/a", 19, 30);
  EXPECT_FALSE(held.too_many_in_a_row()) << "one was read in between";
  for (int i = 20; i < 39; ++i) held.hold("/a", i, i);
  EXPECT_TRUE(held.too_many_in_a_row());
  EXPECT_EQ(held.count(), 39);
  EXPECT_EQ(held.folders(), (std::vector<std::string>{"/a", "/b"}));
}

class FolderOf : public testing::Test {
 protected:
  std::string in(const char* path) const { return (root_ / path).string(); }
  void SetUp() override {
    for (const char* folder : {"a", "b"}) fs::create_directories(root_ / folder);
    std::ofstream(in("a/v.mp4")) << "x";
  }

 private:
  const test::TempDir folder_;
  const fs::path root_ = fs::canonical(folder_.path());
};

WorkItem item_of(const std::string& uri, const std::string& local = "") {
  WorkItem item;
  item.uri = uri;
  item.local = local;
  return item;
}

TEST_F(FolderOf, File_IsWhereItsNameSays) {
  EXPECT_EQ(folder_of(item_of(in("a/v.mp4"))), in("a"));
  EXPECT_EQ(folder_of(item_of(in("a/none.mp4"))), in("a"));
  EXPECT_EQ(folder_of(item_of(in("b/../a/./none.mp4"))), in("a"));
  EXPECT_EQ(folder_of(item_of("file:" + in("a/v.mp4"))), in("a"));
  EXPECT_EQ(folder_of(item_of("file://" + in("a/v.mp4"))), in("a"));
  EXPECT_EQ(folder_of(item_of(in("a/*.png"))), in("a"));
  EXPECT_EQ(folder_of(item_of(in("gone/deeper/v.mp4"))), in("gone/deeper"));
  EXPECT_EQ(written_folder(item_of("file://" + in("b/../a/v.mp4"))), in("a"));
}

TEST_F(FolderOf, Link_LiesWhereItsVideoLies) {
  fs::create_symlink(in("b/v.mp4"), in("a/dangling.mp4"));
  fs::create_symlink("../b/v.mp4", in("a/relative.mp4"));
  fs::create_symlink("dangling.mp4", in("a/twice.mp4"));
  fs::create_symlink("loop.mp4", in("a/loop.mp4"));
  fs::create_directory_symlink(in("b"), in("c"));
  for (const char* link : {"a/dangling.mp4", "a/relative.mp4", "a/twice.mp4", "c/v.mp4"}) {
    EXPECT_EQ(folder_of(item_of(in(link))), in("b")) << link;
  }
  EXPECT_EQ(folder_of(item_of(in("a/loop.mp4"))), in("a"));
  EXPECT_EQ(written_folder(item_of(in("a/dangling.mp4"))), in("a"));
}

TEST_F(FolderOf, Url_IsTheNetwork) {
  for (const char* url : {"http://h:80/a/b.mp4?x=/y", "https://user:secret@other/b.mp4", "rtsp://h"}) {
    EXPECT_EQ(folder_of(item_of(url)), kNetwork);
  }
}

TEST_F(FolderOf, FetchedInput_IsItsBucket) {
  EXPECT_EQ(folder_of(item_of("s3://bucket/a/b.mp4", "/scratch/0.mp4")), "s3://bucket");
  EXPECT_EQ(folder_of(item_of("sftp://me:secret@h/b.mp4", "/scratch/0.mp4")).find("secret"), std::string::npos);
  EXPECT_EQ(folder_of(item_of("local:///a/b.mp4", "/scratch/0.mp4")), "local:///a");
  WorkItem missing = item_of("s3://bucket/b.mp4");
  missing.fault = {{"class", "missing"}, {"line", "no such file"}};
  EXPECT_EQ(folder_of(missing), "s3://bucket");
}

EndedUnit unit(std::int64_t items, std::int64_t bad, std::int64_t crashed = 0, std::int64_t unix_s = 0) {
  return {"00000000", unix_s, items, bad, crashed};
}

TEST(Ended, TooManyBad_CountsAllRuns) {
  Ended ended(5, {unit(94, 0), unit(5, 5)});
  EXPECT_FALSE(ended.too_many_bad()) << "99 are too few to tell";
  ended.add(false);
  EXPECT_FALSE(ended.too_many_bad()) << "5 of 100 may be";
  ended.add(true);
  EXPECT_TRUE(ended.too_many_bad());
  EXPECT_EQ(ended.count(), 101);
  EXPECT_EQ(ended.bad(), 6);
  EXPECT_TRUE(Ended(5, {unit(100, 6)}).too_many_bad()) << "before this run has ended any";
  EXPECT_FALSE(Ended(100, {unit(200, 200)}).too_many_bad());
}

TEST(Ended, LastHundred_AreThoseOfAllRuns) {
  Ended ended(5, {unit(4000, 0), unit(50, 50)});
  EXPECT_FALSE(ended.most_of_late_bad());
  ended.add(true);
  EXPECT_TRUE(ended.most_of_late_bad());
  EXPECT_EQ(ended.late_bad(), 51);
  ended.add(false);
  EXPECT_TRUE(ended.most_of_late_bad());
  for (int i = 0; i < 48; ++i) ended.add(false);
  EXPECT_TRUE(ended.most_of_late_bad()) << "the first of the bad ones is the hundredth";
  ended.add(false);
  EXPECT_FALSE(ended.most_of_late_bad());
  EXPECT_EQ(ended.late(), 100);
  EXPECT_FALSE(Ended(60, {unit(40, 0), unit(60, 60)}).most_of_late_bad());
}

TEST(Ended, CrashesInARow_AreThoseOfTheLastUnits) {
  EXPECT_EQ(crashes_in_a_row({}), 0);
  EXPECT_EQ(crashes_in_a_row({unit(9, 9, 9), unit(2, 2, 1), unit(3, 3, 3), unit(4, 4, 4)}), 7);
  EXPECT_EQ(crashes_in_a_row({unit(9, 9, 9), unit(2, 0)}), 0);
  std::vector<EndedUnit> units = {unit(2, 0, 0, 30), unit(1, 1, 1, 40), unit(1, 0, 0, 40), unit(5, 5, 5, 20)};
  sort_by_age(units);
  EXPECT_EQ(crashes_in_a_row(units), 1);
}

TEST(Ended, Marker_GivesItsCounts) {
  const EndedUnit ended = ended_unit({{"unit", "00000007"},
                                      {"items", 5},
                                      {"quarantined", 3},
                                      {"unix_s", 1700000000},
                                      {"classes", {{"crash", 2}, {"input", 1}}}});
  EXPECT_EQ(ended.name, "00000007");
  EXPECT_EQ(ended.items, 5);
  EXPECT_EQ(ended.quarantined, 3);
  EXPECT_EQ(ended.crashed, 2);
  EXPECT_EQ(ended.unix_s, 1700000000);
}

}  // namespace
}  // namespace saccade
