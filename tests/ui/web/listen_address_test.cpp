// Where a served viewer may be told to listen.
#include "ui/web/wire/listen_address.h"

#include <gtest/gtest.h>

#include "pipeline/error.h"

namespace saccade::ui {
namespace {

TEST(ListenAddress, GoodTexts_AreRead) {
  const ListenAddress none = parse_listen_address("");
  EXPECT_EQ(none.host, "127.0.0.1");
  EXPECT_EQ(none.port, kDefaultPort);
  EXPECT_TRUE(none.or_any_port);
  const ListenAddress port = parse_listen_address("8080");
  EXPECT_EQ(port.host, "127.0.0.1");
  EXPECT_EQ(port.port, 8080);
  EXPECT_FALSE(port.or_any_port);
  EXPECT_EQ(parse_listen_address("0.0.0.0:0").host, "0.0.0.0");
  EXPECT_EQ(parse_listen_address("node-7.cluster:65535").host, "node-7.cluster");
  EXPECT_EQ(parse_listen_address("[::1]:9").host, "::1");
  EXPECT_EQ(parse_listen_address("[::1]:9").port, 9);
  EXPECT_EQ(parse_listen_address("unix:run/a b.sock").path, "run/a b.sock");
}

TEST(ListenAddress, OtherTexts_AreRefusedAndNamed) {
  for (const char* bad :
       {"clip.mp4", "65536", "-1", "host:", ":", ":80", "host:80x", "host:-1", "unix:", "http://a:80", "a/b:80",
        "[::1]", "[::1:80", "::1:80", "host:80:90", " 80", "80 ", "[host]:80", "test://box"}) {
    try {
      parse_listen_address(bad);
      ADD_FAILURE() << bad;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(bad), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(parse_listen_address("unix:" + std::string(101, 'a')), UsageError);
  EXPECT_THROW(parse_listen_address(std::string("unix:a\0b", 8)), UsageError);
}

}  // namespace
}  // namespace saccade::ui
