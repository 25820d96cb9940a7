// Which inputs are held back, where an input lies, what becomes of a video, and when work stops.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/work/judge/ended.h"
#include "app/work/judge/folder.h"
#include "app/work/judge/held.h"
#include "app/work/judge/verdict.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<int>;

TEST(WorkItem, UriThatFFmpegOpens_IsNotFetched) {
  for (const char* uri : {"/in/a.mp4", "a.mp4", "file:///in/a.mp4", "lavfi:color", "test://bars", "https://h/a.mp4",
                          "HTTP://h/a.mp4", "rtp://h:5004", "tls://h", "sftp://h/a.mp4", "mmsh://h/a"})
    EXPECT_FALSE(is_fetched(uri)) << uri;
  for (const char* uri : {"s3://b/a.mp4", "gs://b/a.mp4", "foo://a"}) EXPECT_TRUE(is_fetched(uri)) << uri;
}

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

WorkItem item_of(const std::string& uri) {
  WorkItem item;
  item.uri = uri;
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
  EXPECT_EQ(folder_of(item_of("s3://bucket/a/b.mp4")), "s3://bucket");
  EXPECT_EQ(folder_of(item_of("sftp://me:secret@h/b.mp4")).find("secret"), std::string::npos);
  EXPECT_EQ(folder_of(item_of("local:///a/b.mp4")), "local:///a");
}

EndedUnit unit(std::int64_t items, std::int64_t bad, std::int64_t unix_s = 0) { return {unix_s, items, bad}; }

struct EndedRow {
  std::vector<EndedUnit> units;  // the oldest one first
  bool stops;
  const char* why;
};

TEST(Ended, TooManyBad_StopsAsTheTableSays) {
  const EndedRow rows[] = {
      {{unit(99, 99)}, false, "99 are too few to tell"},
      {{unit(95, 0), unit(5, 5)}, false, "5 of 100 may be"},
      {{unit(94, 0), unit(6, 6)}, true, "6 of 100 are more than 5 %"},
      {{unit(4000, 0), unit(50, 50)}, false, "half of the last 100 may be"},
      {{unit(4000, 0), unit(51, 51)}, true, "more than half of the last 100"},
      {{unit(4000, 0), unit(51, 51), unit(48, 0)}, true, "the first of the bad ones is among the last 100"},
      {{unit(4000, 0), unit(51, 51), unit(50, 0)}, false, "one of them no longer is"},
  };
  for (const EndedRow& row : rows) EXPECT_EQ(Ended(5, row.units).too_many_bad(), row.stops) << row.why;
  EXPECT_FALSE(Ended(100, {unit(200, 200)}).too_many_bad()) << "all may be";
  EXPECT_FALSE(Ended(60, {unit(40, 0), unit(60, 60)}).too_many_bad()) << "60 % may be, also of the last 100";
}

TEST(Ended, Line_SaysWhichLimit) {
  EXPECT_EQ(Ended(5, {unit(94, 0), unit(6, 6)}).line("--max-bad "),
            "6 of 100 videos were quarantined, more than --max-bad 5 %");
  EXPECT_EQ(Ended(5, {unit(4000, 0), unit(51, 51)}).line(""), "51 of the last 100 videos were quarantined");
}

TEST(Ended, Units_AreSortedByAge) {
  std::vector<EndedUnit> units = {unit(2, 0, 30), unit(1, 1, 40), unit(1, 0, 40), unit(5, 5, 20)};
  sort_by_age(units);
  std::vector<std::int64_t> items;
  for (const EndedUnit& one : units) items.push_back(one.items * 10 + one.quarantined);
  EXPECT_EQ(items, (std::vector<std::int64_t>{55, 20, 10, 11}));
}

TEST(Ended, Marker_GivesItsCounts) {
  const EndedUnit ended = ended_unit({{"items", 5}, {"quarantined", 3}, {"unix_s", 1700000000}});
  EXPECT_EQ(ended.items, 5);
  EXPECT_EQ(ended.quarantined, 3);
  EXPECT_EQ(ended.unix_s, 1700000000);
}

constexpr auto kDone = AttemptEnd::kDone, kFailed = AttemptEnd::kFailed, kCrashed = AttemptEnd::kCrashed,
               kHung = AttemptEnd::kHung, kKilled = AttemptEnd::kKilled;

struct VerdictRow {
  Signs signs;
  Past past;
  Verdict verdict;
  const char* why;
};

Signs ended(AttemptEnd end) { return {end, false, std::nullopt}; }
Signs failed(bool again, std::optional<bool> read) { return {kFailed, again, read}; }
Past past(int failures, int kills, bool alone, bool settled) { return {failures, kills, alone, settled}; }

TEST(Judge, Verdict_IsThatOfTheTable) {
  const Past fresh = past(0, 0, false, false), alone = past(0, 0, true, false), settled = past(0, 0, false, true);
  const VerdictRow rows[] = {
      {ended(kDone), fresh, Verdict::kDone, "done"},
      {failed(false, std::nullopt), fresh, Verdict::kQuarantine, "its own fault, as damage beyond use"},
      {failed(true, std::nullopt), fresh, Verdict::kLater, "the network failed for the first time"},
      {failed(true, std::nullopt), past(1, 0, false, false), Verdict::kLater, "for the second"},
      {failed(true, std::nullopt), past(2, 0, false, false), Verdict::kQuarantine, "for the third"},
      {failed(true, false), past(2, 0, false, false), Verdict::kHold, "and nothing of it could be read"},
      {failed(false, false), fresh, Verdict::kHold, "it does not exist, or its folder is not mounted"},
      {failed(false, false), settled, Verdict::kQuarantine, "it does not exist, and its folder was read"},
      {failed(false, true), fresh, Verdict::kQuarantine, "it was read"},
      {ended(kCrashed), fresh, Verdict::kAlone, "others ran beside it"},
      {ended(kCrashed), alone, Verdict::kQuarantine, "the program died of it"},
      {ended(kHung), fresh, Verdict::kAlone, "others ran beside it"},
      {ended(kHung), alone, Verdict::kQuarantine, "it hangs"},
      {ended(kKilled), fresh, Verdict::kAlone, "a person, or want of memory"},
      {ended(kKilled), alone, Verdict::kAlone, "the first time alone"},
      {ended(kKilled), past(0, 1, true, false), Verdict::kAlone, "the second"},
      {ended(kKilled), past(0, 2, true, false), Verdict::kQuarantine, "the third: it asks for too much memory"},
  };
  for (const VerdictRow& row : rows) {
    Past so_far = row.past;
    EXPECT_EQ(judge(row.signs, so_far), row.verdict) << row.why;
  }
}

}  // namespace
}  // namespace saccade
