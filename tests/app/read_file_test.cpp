// What is there is read to the byte; "not there" is an answer, and every other fault names the path and the reason.
#include "app/files/read_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "app/files/whole_file.h"
#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;

std::string put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

template <typename Step>
std::string refused(const Step& step) {
  try {
    step();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ReadFile, Bytes_FromAnywhere) {
  const test::TempDir folder;
  std::string text(3 << 20, 0);  // of several pieces
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 >> 3);
  const std::string path = put(folder.path() / "a", text);
  EXPECT_EQ(read_file(path), text);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, (std::size_t{1} << 20) - 1, text.size() - 1}) {
    for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{2} << 20, text.size()})
      EXPECT_EQ(read_file(path, at, most), text.substr(at, most)) << at << ", " << most;
  }
  EXPECT_EQ(read_file(path, text.size(), 9), "");
  EXPECT_EQ(look_at(path)->bytes, text.size());
}

// FIPS 180-2, appendix B.1.
TEST(ReadFile, Hash_IsSha256) {
  const test::TempDir folder;
  EXPECT_EQ(hash_file(put(folder.path() / "a", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ReadFile, NotThere_IsAnAnswer) {
  const test::TempDir folder;
  const std::string file = put(folder.path() / "file", "x");
  for (const std::string& path : {(folder.path() / "none").string(), file + "/below"}) {
    EXPECT_EQ(read_file(path), std::nullopt);
    EXPECT_EQ(hash_file(path), std::nullopt);
    EXPECT_FALSE(is_there(path));
  }
  EXPECT_EQ(list_folder(folder.path() / "none"), std::nullopt);
}

TEST(ReadFile, Names_AreSorted) {
  const test::TempDir folder;
  for (const char* name : {"b", "a", ".c"}) put(folder.path() / name, "");
  EXPECT_THAT(*list_folder(folder.path()), ElementsAre(".c", "a", "b"));
}

TEST(ReadFile, OtherFaults_NameThePathAndTheReason) {
  const test::TempDir folder;
  const std::string file = put(folder.path() / "file", "x"), loop = folder.path() / "loop";
  fs::create_symlink(loop, loop);
  EXPECT_EQ(refused([&] { read_file(folder.path()); }), folder.path().string() + ": could not be read: Is a directory");
  EXPECT_EQ(refused([&] { list_folder(file); }), file + ": could not be read: Not a directory");
  for (const auto& step : std::initializer_list<std::function<void()>>{
           [&] { read_file(loop); }, [&] { look_at(loop); }, [&] { list_folder(loop); }, [&] { hash_file(loop); }}) {
    EXPECT_EQ(refused(step), loop + ": could not be read: Too many levels of symbolic links");
  }
}

TEST(FailToWrite, Advice_IsWhatTheFaultAsksFor) {
  const auto said = [](int fault, const char* other = "") {
    return refused([&] { fail_to_write("a", fault, other); });
  };
  EXPECT_EQ(said(ENOSPC), "a: could not be written: No space left on device; free some space");
  EXPECT_EQ(said(EDQUOT, "choose another -o"),
            "a: could not be written: Disk quota exceeded; free some space or choose another -o");
  for (const int fault : {EACCES, EPERM, EROFS})
    EXPECT_THAT(said(fault), EndsWith("; give this user the right to write there"));
  EXPECT_EQ(said(EIO), "a: could not be written: Input/output error");
  EXPECT_THAT(said(ENOENT, "choose another -o"), EndsWith("No such file or directory; choose another -o"));
}

}  // namespace
}  // namespace saccade
