// The backends by name, and why one can't be used.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "pipeline/backend/backend.h"
#include "pipeline/error.h"
#include "tests/support/required.h"

namespace saccade {
namespace {

TEST(Backends, Names_AreDistinctAndChosenByThem) {
  std::set<std::string> names;
  for (const Backend backend : {Backend::kCpu, Backend::kGl, Backend::kCuda}) {
    names.insert(name(backend));
    if (!why_unavailable(backend).empty()) continue;
    std::string reason;
    EXPECT_EQ(choose_backend(name(backend), reason), backend);
    EXPECT_EQ(reason, "");
  }
  EXPECT_EQ(names.size(), 3U);
}

TEST(Backends, TheirNames_AreReadBack) {
  std::string choices(kAutoBackend);
  for (const BackendRow* row : all_backends()) {
    choices += std::string("|") + row->name;
    EXPECT_EQ(backend_named(row->name), row->backend);
    EXPECT_EQ(traits_of(row->name), &traits(row->backend));
    EXPECT_STREQ(name(row->backend), row->name);
  }
  EXPECT_EQ(choices, backend_choices());
  EXPECT_EQ(backend_named(kAutoBackend), std::nullopt);
  EXPECT_EQ(backend_named("vulkan"), std::nullopt);
}

TEST(Backends, OneWhoseTexturesBelongToAThread_IsOpenGLs) {
  EXPECT_TRUE(suits_any_thread("cpu"));
  EXPECT_FALSE(suits_any_thread("gl"));
  EXPECT_TRUE(suits_any_thread("cuda"));
  EXPECT_TRUE(suits_any_thread(kAutoBackend));
  EXPECT_FALSE(suits_any_thread(Backend::kCuda, UploadPath::kPbo));
}

TEST(Backends, AnUnknownName_IsAUsageErrorThatListsThem) {
  std::string reason;
  try {
    static_cast<void>(choose_backend("vulkan", reason));
    FAIL() << "there is a backend vulkan";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), "backend vulkan: it is one of auto, cpu, gl, cuda");
  }
}

TEST(Backends, Auto_SaysWhy) {
  std::string reason;
  const Backend chosen = choose_backend("auto", reason);
  EXPECT_NE(reason, "");
  EXPECT_EQ(chosen, why_unavailable(Backend::kCuda).empty() ? Backend::kCuda : Backend::kCpu);
}

TEST(Backends, ADeviceThatIsNotThere_SaysHowManyThereAre) {
  if (const std::string why_not = why_unavailable(Backend::kCuda); !why_not.empty()) {
    testing::skip_or_fail("cuda", why_not);
    return;
  }
  const std::string why_not = why_unavailable(Backend::kCuda, 99);
  EXPECT_NE(why_not.find("no device 99"), std::string::npos) << why_not;
  EXPECT_NE(why_not.find(" 0"), std::string::npos) << why_not;
  std::string reason;
  EXPECT_THROW(static_cast<void>(choose_backend("cuda", reason, 99)), UnavailableError);
}

TEST(Backends, ANamedDeviceThatIsNotThere_IsNoReasonForTheCpu) {
  std::string reason;
  EXPECT_THROW(static_cast<void>(choose_backend("auto", reason, 99)), UnavailableError);
}

}  // namespace
}  // namespace saccade
