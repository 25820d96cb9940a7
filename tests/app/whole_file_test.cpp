// A file is there whole or as it was.
#include "app/files/whole_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(ReplaceFile, Parts_AreWrittenInOrderAndNothingElseIsLeft) {
  const test::TempDir folder;
  const fs::path path = folder.path() / "a.json";
  std::ofstream(path) << "a longer text that was there before";
  EXPECT_EQ(replace_file(path, {"{", std::string("a\0b", 3), "}\n"}), 0);
  EXPECT_EQ(content(path), std::string("{a\0b}\n", 6));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(ReplaceFile, NoSpace_KeepsWhatWasThere) {
  const test::TempDir folder;
  const fs::path path = folder.path() / "a.json";
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{1} << 20}) {  // fails when closed, fails when written
    std::ofstream(path) << "old";
    fs::create_symlink("/dev/full", path.string() + ".tmp");
    EXPECT_EQ(replace_file(path, {std::string(bytes, 'x')}), ENOSPC);
    EXPECT_EQ(content(path), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
  }
}

TEST(ReplaceFile, WhereNothingCanBeMade_SaysWhy) {
  const test::TempDir folder;
  EXPECT_EQ(replace_file(folder.path() / "no such folder" / "a.json", {"x"}), ENOENT);
  fs::create_directory(folder.path() / "b");
  EXPECT_EQ(replace_file(folder.path() / "b", {"x"}), EISDIR);
  EXPECT_FALSE(fs::exists(folder.path() / "b.tmp"));
}

}  // namespace
}  // namespace saccade
