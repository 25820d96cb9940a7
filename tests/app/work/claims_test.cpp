// Who has a unit, and when another one may take it over.
#include "app/work/claim/claims.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "app/work/store/helper.h"
#include "app/work/store/store.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

using std::chrono::seconds;
using Names = std::vector<std::string>;

TEST(Watch, Worker_IsDeadByTheWatchersClockAlone) {
  Watch watch(60);
  const Watch::Time begin{};
  EXPECT_FALSE(watch.is_dead("a", "1", begin)) << "it is seen for the first time";
  EXPECT_FALSE(watch.is_dead("a", "1", begin + seconds(59)));
  EXPECT_TRUE(watch.is_dead("a", "1", begin + seconds(60))) << "the same bytes for so long";
  EXPECT_FALSE(watch.is_dead("a", "2", begin + seconds(61))) << "it gave a sign";
  EXPECT_FALSE(watch.is_dead("b", "1", begin + seconds(100)));
  EXPECT_TRUE(watch.is_dead("a", std::nullopt, begin + seconds(62))) << "its heartbeat is gone";
  EXPECT_FALSE(watch.is_dead("b", "1", begin + seconds(161), 200)) << "b beats more slowly";
  EXPECT_TRUE(watch.is_dead("b", "1", begin + seconds(300), 200));
}

class ClaimsTest : public testing::Test {
 protected:
  const test::TempDir folder_;
  const std::unique_ptr<Store> owner_ = open_store(folder_.path().string());
  Store& store_ = *owner_;
  Claims made(const std::string& name, double expiry_s = 60) { return {store_, name, Json::object(), expiry_s}; }
  Names claims() { return store_.names(kClaims).value_or(Names{}); }
};

TEST_F(ClaimsTest, OfTwo_OneHasTheUnit) {
  Claims a = made("a"), b = made("b");
  EXPECT_TRUE(a.take("7"));
  EXPECT_FALSE(b.take("7"));
  EXPECT_EQ(b.free_of({"7", "8"}), Names{"8"});
  EXPECT_TRUE(b.take("8"));
  EXPECT_EQ(claims(), (Names{"7.0", "8.0"}));
}

TEST_F(ClaimsTest, Release_LeavesNothing) {
  {
    Claims a = made("a");
    ASSERT_TRUE(a.take("7"));
    ASSERT_TRUE(a.take("8"));
    a.release("7");
    EXPECT_EQ(claims(), Names{"8.0"});
  }
  EXPECT_EQ(claims(), Names{});
  EXPECT_EQ(store_.names(kWorkers), Names{});
}

TEST_F(ClaimsTest, DeadWorkersUnit_GoesToOneOfTwo) {
  ASSERT_TRUE(store_.create("claims/7.0", "{\"worker\": \"gone\"}\n"));
  Claims a = made("a"), b = made("b");
  EXPECT_EQ(a.free_of({"7"}), Names{"7"}) << "its worker has no heartbeat";
  EXPECT_EQ(b.free_of({"7"}), Names{"7"});
  EXPECT_TRUE(a.take("7"));
  EXPECT_FALSE(b.take("7"));
  EXPECT_EQ(b.free_of({"7"}), Names{}) << "a is alive";
  a.release("7");
  EXPECT_EQ(claims(), Names{});
}

TEST_F(ClaimsTest, WorkerThatStandsStill_LosesItsUnit) {
  ASSERT_TRUE(store_.create("claims/7.0", "{\"worker\": \"still\"}\n"));
  store_.put(heartbeat_name("still"), "{\"beat\": 1}\n");
  Claims a = made("a", 0);  // expires at once, by the second look
  EXPECT_EQ(a.free_of({"7"}), Names{"7"});
  Claims b = made("b", 1000);
  EXPECT_EQ(b.free_of({"7"}), Names{});
  store_.put(heartbeat_name("still"), "{\"beat\": 2, \"claim_s\": 1000}\n");
  EXPECT_EQ(a.free_of({"7"}), Names{}) << "it wants to be waited for longer";
}

TEST_F(ClaimsTest, ClaimThatWasMadeAgain_IsLeftToItsNewWorker) {
  Claims b = made("b");
  {
    Claims a = made("a");
    ASSERT_TRUE(a.take("7"));
    ASSERT_EQ(b.free_of({"7"}), Names{}) << "b knows the claim now";
  }
  Claims c = made("c");
  ASSERT_TRUE(c.take("7"));
  EXPECT_EQ(b.free_of({"7"}), Names{});
}

TEST_F(ClaimsTest, OwnClaimWhoseAnswerWasLost_CanBeTakenAgain) {
  ASSERT_TRUE(store_.create("claims/7.0", "{\"worker\": \"a\"}\n"));
  Claims a = made("a");
  EXPECT_FALSE(a.take("7"));
  EXPECT_EQ(a.free_of({"7"}), Names{"7"});
  EXPECT_TRUE(a.take("7"));
}

// A folder in place of a claim that isn't empty can't be removed.
TEST_F(ClaimsTest, ClaimThatCantBeRemoved_IsLeft) {
  Claims a = made("a");
  ASSERT_TRUE(a.take("7"));
  store_.remove("claims/7.0");
  ASSERT_TRUE(store_.create("claims/7.0/file", ""));
  EXPECT_FALSE(a.release("7"));
  EXPECT_NO_THROW(remove_claims(store_));
}

TEST_F(ClaimsTest, Heartbeat_ChangesByItself) {
  const Claims a = made("a", 0.06);
  const auto first = store_.read(heartbeat_name("a"));
  const auto until = std::chrono::steady_clock::now() + seconds(20);
  while (store_.read(heartbeat_name("a")) == first && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_NE(store_.read(heartbeat_name("a")), first);
}

TEST(OpenStore, FileUrl_IsAFolder) {
  const auto store = open_store("file:///a/b");
  EXPECT_TRUE(store->is_folder());
  EXPECT_EQ(store->place(), "/a/b");
}

TEST(FolderStore, Create_IsForOne) {
  const test::TempDir folder;
  const auto owner = open_store(folder.path().string());
  Store& store = *owner;
  EXPECT_TRUE(store.create("commits/1.json", "a"));
  EXPECT_FALSE(store.create("commits/1.json", "b"));
  EXPECT_EQ(store.read("commits/1.json"), "a");
  EXPECT_EQ(store.names("commits"), Names{"1.json"}) << "no draft is left";
  EXPECT_EQ(store.names("none"), std::nullopt);
  EXPECT_EQ(store.read("none"), std::nullopt);
}

// RFC 4648, section 10.
TEST(Base64, Text_IsThatOfTheRfc) {
  const std::pair<const char*, const char*> rows[] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                                                      {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : rows) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

}  // namespace
}  // namespace saccade
