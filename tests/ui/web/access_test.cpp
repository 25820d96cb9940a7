// Tokens and origins of the served viewer.
#include "ui/web/wire/access.h"

#include <gtest/gtest.h>

#include <set>

namespace saccade::ui {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

TEST(Token, Random_Has128BitsAndDiffers) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string token = random_token();
    EXPECT_EQ(token.size(), 32u);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(is_good_token(token));
    seen.insert(token);
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Token, OfAPerson_MustBeLongAndFitAUrl) {
  EXPECT_TRUE(is_good_token("correct-horse.battery_~"));
  for (const char* bad : {"", "short", "fifteen-letters", "with space 0123456789", "with#hash0123456789",
                          "with&and01234567", "with=equals01234567", "n\xc3\xa4mlich-0123456789"}) {
    EXPECT_FALSE(is_good_token(bad)) << bad;
  }
  EXPECT_FALSE(is_good_token(std::string(129, 'a')));
  EXPECT_FALSE(is_good_token(std::string("0123456789abcdef\0", 17)));
}

// The truth: printf 'saccade watch %s' TOKEN | sha256sum
TEST(Token, Watch_IsTheSameForOneControlToken) {
  EXPECT_EQ(watch_token_of(kToken), "7ec8d08433aa46bc561fb2434e5e3a58");
  EXPECT_NE(watch_token_of(kToken + "0"), watch_token_of(kToken));
}

TEST(Access, Tokens_GiveTheirRoleAndNothingElseDoes) {
  const Access access(kToken);
  EXPECT_EQ(access.role_of(kToken), Role::kControl);
  EXPECT_EQ(access.role_of(access.watch_token()), Role::kWatch);
  for (const std::string& wrong :
       {std::string(), kToken.substr(1), kToken + "0", std::string("0123456789ABCDEF0123456789abcdef"),
        access.watch_token().substr(0, 31), std::string(1, '\0'), std::string(5000, 'a')}) {
    EXPECT_EQ(access.role_of(wrong), Role::kNone) << wrong;
  }
}

TEST(Access, Origin_MustBeTheServersOwnOrBeNamed) {
  const Access access(kToken, {"https://hub.example", "http://other.example:8000"});
  const auto allows = [&](const char* origin, const char* host) { return access.allows(origin, host); };
  EXPECT_TRUE(access.allows(std::nullopt, "127.0.0.1:7373"));
  EXPECT_TRUE(allows("http://127.0.0.1:7373", "127.0.0.1:7373"));
  EXPECT_TRUE(allows("http://LOCALHOST:7373", "localhost:7373"));
  EXPECT_TRUE(allows("http://[::1]:7373", "[::1]:7373"));
  EXPECT_TRUE(allows("http://server", "server:80"));
  EXPECT_TRUE(allows("https://server", "server"));
  EXPECT_TRUE(allows("https://server:443", "server"));
  EXPECT_TRUE(allows("https://hub.example", "127.0.0.1:7373"));
  EXPECT_TRUE(allows("http://other.example:8000", "127.0.0.1:7373"));
  for (const char* origin :
       {"null", "", "http://evil.example", "http://127.0.0.1:7374", "http://127.0.0.1", "https://hub.example:8443",
        "http://hub.example", "http://hub.example.evil.example", "file://", "127.0.0.1:7373", "ftp://127.0.0.1:7373",
        "http://127.0.0.1:7373/", "http://a@127.0.0.1:7373", "http://127.0.0.1:7373 "}) {
    EXPECT_FALSE(allows(origin, "127.0.0.1:7373")) << origin;
  }
  EXPECT_FALSE(allows("null", "null"));
  EXPECT_FALSE(allows("http://", ""));
}

TEST(Access, NormalOrigin_RefusesWhatIsNone) {
  EXPECT_EQ(normal_origin("HTTPS://Hub.Example:443"), "https://hub.example");
  EXPECT_EQ(normal_origin("http://h:8080"), "http://h:8080");
  EXPECT_EQ(normal_origin("http://[2001:DB8::1]:80"), "http://[2001:db8::1]");
  for (const char* bad :
       {"*", "hub.example", "https://", "https://a/b", "https://a:", "https://a:b", "https://a:123456", "https://a b",
        "https://[::1", "https://*.example", "javascript://x", "https://a?x", "https://a#x"}) {
    EXPECT_FALSE(normal_origin(bad)) << bad;
  }
}

}  // namespace
}  // namespace saccade::ui
