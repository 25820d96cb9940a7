// What is written once, from front to end: tar files and plans.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "app/work/commit/tar.h"
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

}  // namespace
}  // namespace saccade
