#include "pipeline/run/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(TraceWriter, AnyEvent_IsReadByAJsonParser) {
  const test::TempDir folder;
  const std::string path = folder.file("events.json");
  {
    TraceWriter trace(path);
    trace.name_thread(1, "pipe \"line\"\n");
    trace.complete("diff", 1, 1'000'000'123, 1'000'400'123, 7);
    trace.counter("damaged tiles", 1'000'500'000, 12.5);
    trace.counter("odd", 1'000'600'000, std::numeric_limits<double>::quiet_NaN());
    trace.complete("early", 2, -1500, -500, 0);
  }
  const nlohmann::json events = nlohmann::json::parse(contents(path));
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["ph"], "M");
  EXPECT_EQ(events[0]["args"]["name"], "pipe \"line\"\n");
  EXPECT_EQ(events[1]["ph"], "X");
  EXPECT_EQ(events[1]["name"], "diff");
  EXPECT_EQ(events[1]["tid"], 1);
  EXPECT_DOUBLE_EQ(events[1]["ts"], 1'000'000.123);
  EXPECT_DOUBLE_EQ(events[1]["dur"], 400.0);
  EXPECT_EQ(events[1]["args"]["frame"], 7);
  EXPECT_EQ(events[2]["ph"], "C");
  EXPECT_DOUBLE_EQ(events[2]["args"]["value"], 12.5);
  EXPECT_TRUE(events[3]["args"]["value"].is_null());
  EXPECT_DOUBLE_EQ(events[4]["ts"], -1.5);
}

TEST(TraceWriter, NoEvent_MakesAnEmptyArray) {
  const test::TempDir folder;
  const std::string path = folder.file("empty.json");
  { TraceWriter trace(path); }
  EXPECT_EQ(nlohmann::json::parse(contents(path)).size(), 0U);
}

TEST(TraceWriter, SeveralThreads_InterleaveWholeEvents) {
  const test::TempDir folder;
  const std::string path = folder.file("threads.json");
  {
    TraceWriter trace(path);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&trace, t] {
        for (int i = 0; i < 2000; ++i) trace.complete("stage", t, i * 1000, i * 1000 + 10, i);
      });
    }
    for (auto& thread : threads) thread.join();
  }
  const nlohmann::json events = nlohmann::json::parse(contents(path));
  ASSERT_EQ(events.size(), 8000U);
  std::vector<std::int64_t> next(4, 0);
  for (const auto& event : events) {
    const auto tid = event["tid"].get<std::size_t>();
    EXPECT_EQ(event["args"]["frame"], next[tid]++);
  }
}

// What a killed process leaves behind is what was flushed: whole events, with only the closing bracket missing.
TEST(TraceWriter, BeforeTheEnd_HoldsWholeEvents) {
  const test::TempDir folder;
  const std::string path = folder.file("cut.json");
  TraceWriter trace(path);
  for (int i = 0; i < 3000; ++i) trace.complete("stage", 1, i * 1000, i * 1000 + 10, i);
  const std::string cut = contents(path);
  ASSERT_FALSE(cut.empty());
  const nlohmann::json events = nlohmann::json::parse(cut + "\n]");
  EXPECT_GT(events.size(), 1000U);
  EXPECT_LT(events.size(), 3000U);
}

TEST(TraceWriter, Event_IsOnDiskASecondLater) {
  const test::TempDir folder;
  const std::string path = folder.file("flush.json");
  TraceWriter trace(path);
  trace.complete("first", 1, 5'000'000'000, 5'000'000'010, 0);
  trace.complete("second", 1, 6'500'000'000, 6'500'000'010, 1);
  EXPECT_NE(contents(path).find("first"), std::string::npos);
}

TEST(TraceWriter, UnwritablePath_IsNamed) {
  try {
    TraceWriter trace("/nonexistent/folder/trace.json");
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/folder/trace.json"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos);
  }
}

}  // namespace
}  // namespace saccade
