#include "app/dump/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(NpyHeader, Always_IsWhatTheFormatAsksFor) {
  const std::string header = npy_header("'<f4'", 12, {273, 4});
  ASSERT_EQ(header.size(), 256U);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(static_cast<unsigned char>(header[8]) + 256 * static_cast<unsigned char>(header[9]), 256 - 10);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(header.substr(10, 65), "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 273, 4), }");
  EXPECT_EQ(header.find_first_not_of(' ', 75), 255U);
}

TEST(NpyHeader, OneDimension_IsATuple) {
  EXPECT_NE(npy_header("'|u1'", 3, {}).find("'shape': (3,), }"), std::string::npos);
}

TEST(NpyHeader, AnyNumberOfRows_Fits) {
  EXPECT_EQ(npy_header("'|u1'", INT64_MAX, {INT64_MAX, 3, INT64_MAX}).size(), 256U);
  EXPECT_THROW(npy_header(std::string(250, 'x'), 1, {}), std::length_error);
}

TEST(NpyFile, Uncommitted_HoldsNothing) {
  const test::TempDir folder;
  const fs::path path = folder.path() / "a.npy";
  NpyFile file(path.string(), "'<i4'", {2}, 8);
  EXPECT_EQ(slurp(path), npy_header("'<i4'", 0, {2}));
  const std::int32_t row[2] = {1, -2};
  file.append(row);
  file.drain();
  EXPECT_EQ(slurp(path).substr(0, 256), npy_header("'<i4'", 0, {2}));
  file.commit(1);
  const std::string bytes = slurp(path);
  EXPECT_EQ(bytes.substr(0, 256), npy_header("'<i4'", 1, {2}));
  ASSERT_EQ(bytes.size(), 256U + 8U);
  EXPECT_EQ(std::memcmp(bytes.data() + 256, row, 8), 0);
  file.close();
  EXPECT_FALSE(fs::exists(path.string() + ".tmp"));
}

TEST(NpyFile, SmallAndLargeRows_ComeOutInOrder) {
  const test::TempDir folder;
  for (const std::size_t row_bytes : {std::size_t{3}, std::size_t{1} << 15, (std::size_t{1} << 16) + 1}) {
    const fs::path path = folder.path() / ("rows-" + std::to_string(row_bytes));
    NpyFile file(path.string(), "'|u1'", {static_cast<std::int64_t>(row_bytes)}, row_bytes);
    for (int r = 0; r < 20; ++r) file.append(std::string(row_bytes, static_cast<char>('a' + r)).data());
    file.drain();
    file.commit(20);
    file.close();
    const std::string bytes = slurp(path);
    ASSERT_EQ(bytes.size(), 256 + 20 * row_bytes);
    for (std::size_t r = 0; r < 20; ++r) {
      EXPECT_EQ(bytes.substr(256 + r * row_bytes, row_bytes), std::string(row_bytes, static_cast<char>('a' + r)));
    }
  }
}

TEST(NpyFile, MissingFolder_NamesTheFile) {
  const test::TempDir folder;
  const std::string path = (folder.path() / "missing" / "a.npy").string();
  try {
    NpyFile file(path, "'|u1'", {1}, 1);
    FAIL() << "made a file in a folder that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos);
  }
}

TEST(NpyFile, FullDevice_IsReported) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const test::TempDir folder;
  fs::create_symlink("/dev/full", folder.path() / "full.npy.tmp");
  EXPECT_THROW(NpyFile((folder.path() / "full.npy").string(), "'|u1'", {1}, 1), Error);
}

}  // namespace
}  // namespace saccade
