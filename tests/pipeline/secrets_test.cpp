// What of a URL may be shown.
#include <gtest/gtest.h>

#include <string>

#include "pipeline/secrets.h"

namespace saccade {
namespace {

struct Case {
  std::string uri, shown;
};

TEST(Secrets, UserAndPassword_AreMasked) {
  for (const auto& [uri, shown] : {
           Case{"rtsp://cam:hunter2@10.0.0.1:554/live", "rtsp://***@10.0.0.1:554/live"},
           Case{"http://hunter2@host", "http://***@host"},
           Case{"https://a:p@ss:w@host/x@y", "https://***@host/x@y"},
           Case{"rtmp://u:p%40ss@[::1]:1935/app", "rtmp://***@[::1]:1935/app"},
           Case{"rtsp:cam:hunter2@host/live", "rtsp:***@host/live"},
           Case{"async:http://u:p@host/a.ts", "async:http://***@host/a.ts"},
           Case{"concat:http://u:p@a/1.ts|http://v:q@b/2.ts", "concat:http://***@a/1.ts|http://***@b/2.ts"},
           Case{"rtsp://cam:hun/ter2@host/live", "rtsp://***@host/live"},
           Case{"rtsp://cam:hun?ter2@host/live", "rtsp://***@host/live"},
           Case{"rtsp://:@host", "rtsp://***@host"},
       }) {
    EXPECT_EQ(masked_uri(uri), shown);
  }
}

TEST(Secrets, Parameters_AreMaskedByName) {
  for (const auto& [uri, shown] : {
           Case{"http://h/a?x=1&token=abc&y=2", "http://h/a?x=1&token=***&y=2"},
           Case{"http://h/a?Access_Token=abc", "http://h/a?Access_Token=***"},
           Case{"http://h/a?password=a=b&n=1", "http://h/a?password=***&n=1"},
           Case{"srt://h:9?passphrase=long-secret&mode=caller", "srt://h:9?passphrase=***&mode=caller"},
           Case{"http://h/v.cgi?user=adm&pwd=1&loginuse=2", "http://h/v.cgi?user=***&pwd=***&loginuse=2"},
           Case{"rtsp://h/user=admin_password=x_channel=1.sdp", "rtsp://h/user=***"},
           Case{"https://h/a?X-Amz-Signature=f00&X-Amz-Credential=k",
                "https://h/a?X-Amz-Signature=***&X-Amz-Credential=***"},
           Case{"https://h/a?api-key=k;sig=s#t", "https://h/a?api-key=***;sig=***#t"},
           Case{"http://h/a?token=", "http://h/a?token=***"},
       }) {
    EXPECT_EQ(masked_uri(uri), shown);
  }
}

TEST(Secrets, OddSpellings_AreMaskedToo) {
  EXPECT_EQ(masked_uri("RTSP:joe:hunter2@h/x"), "RTSP:***@h/x");
  EXPECT_EQ(masked_uri("http://h/x?token=ab,hunter2"), "http://h/x?token=***");
  EXPECT_EQ(masked_uri("http://h/x?token=ab;hunter2&n=1"), "http://h/x?token=***&n=1");
  EXPECT_EQ(masked_uri("http://h/x?code=hunter2"), "http://h/x?code=***");
  EXPECT_EQ(masked_uri("rtsp://cam:12/hunter2@10.0.0.1/live"), "rtsp://***@10.0.0.1/live");
  EXPECT_EQ(masked_uri("rtsp://cam:12/hunter2@10.0.0.1"), "rtsp://***@10.0.0.1");
  EXPECT_EQ(masked_uri("rtsp://cam:12?hunter2@host:554/live"), "rtsp://***@host:554/live");
  EXPECT_EQ(masked_uri("cam:hunter2@10.0.0.1/live"), "***@10.0.0.1/live");
  EXPECT_EQ(masked_uri("cam:hunter2@host:554"), "***@host:554");
}

TEST(Secrets, WhatIsNone_Stays) {
  for (const char* uri :
       {"clip.mp4", "/a/b@c.mp4", "dir/a?token=b.mp4", "-", "lavfi:testsrc2@a=size=64x64", "test://desktop?size=64x64",
        "rtsp://host:554/a@b/live", "http://host/path?keyframes=1&codec=h264", "udp://239.0.0.1:1234",
        "http://[::1]:80/a@b", "http://host:80/a@b.mp4", "12:30@noon.mp4", "C:\\video@work.mp4", "/dev/video0", "",
        "http://", "://", "a://@"}) {
    const std::string shown = masked_uri(uri);
    EXPECT_EQ(shown, std::string(uri) == "a://@" ? "a://***@" : uri);
  }
}

TEST(Secrets, TextsWithUrls_AreMasked) {
  EXPECT_EQ(without_secrets("Opening 'http://u:p@h/s.ts?token=t' for reading, then rtsp://a:b@c: 401"),
            "Opening 'http://***@h/s.ts?token=***' for reading, then rtsp://***@c: 401");
  EXPECT_EQ(without_secrets("no URL: mail me@work"), "no URL: mail me@work");
  EXPECT_EQ(without_secrets("srt://h:1?passphrase=p: no such protocol"), "srt://h:1?passphrase=***: no such protocol");
}

}  // namespace
}  // namespace saccade
