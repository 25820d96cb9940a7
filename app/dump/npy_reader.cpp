#include "app/dump/npy_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// The text of a dictionary's value, up to the comma that ends it, without blanks. Empty when the key is missing.
std::string value_of(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) return {};
  std::string value;
  int depth = 0;
  for (const char c : header.substr(at + quoted.size())) {
    if (c == '(' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == '}')) break;
    if (c == ')' || c == ']') --depth;
    if (c != ' ' && c != '\n') value += c;
  }
  return value;
}

bool parse_shape(std::string_view text, std::vector<std::int64_t>& shape) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  const char* p = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (p < end) {
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(p, end, extent);
    if (error != std::errc{} || extent < 0 || (next < end && *next != ',')) return false;
    shape.push_back(extent);
    p = next + 1;
  }
  return true;
}

}  // namespace

NpyArray::NpyArray(const std::string& path) : path_(path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(std::strerror(errno));
  struct stat status {};
  int fault = ::fstat(fd, &status) == 0 ? 0 : errno;
  const auto size = fault == 0 && S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
  void* const mapped = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (size > 0 && mapped == MAP_FAILED) fault = errno;
  ::close(fd);
  if (mapped == MAP_FAILED) fail(fault != 0 ? std::strerror(fault) : "empty, or not a file");
  file_ = {static_cast<const std::byte*>(mapped), size};
  try {
    parse();
  } catch (...) {
    ::munmap(mapped, size);
    throw;
  }
}

NpyArray::NpyArray(NpyArray&& other) noexcept
    : path_(std::move(other.path_)),
      descr_(std::move(other.descr_)),
      shape_(std::move(other.shape_)),
      file_(std::exchange(other.file_, {})),
      data_offset_(other.data_offset_),
      item_bytes_(other.item_bytes_) {}

NpyArray::~NpyArray() {
  if (!file_.empty()) ::munmap(const_cast<std::byte*>(file_.data()), file_.size());
}

void NpyArray::fail(const std::string& fault) const {
  throw InputError(fmt::format("{}: {}; was it written by saccade dump?", path_, fault));
}

void NpyArray::parse() {
  const auto* const text = reinterpret_cast<const char*>(file_.data());
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(file_[i]); };
  if (file_.size() < 12 || std::string_view(text, kMagic.size()) != kMagic) fail("not an .npy file");
  const std::size_t major = byte(6);
  if (major < 1 || major > 3) fail(fmt::format("unknown .npy version {}", major));
  const std::size_t prefix = major == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (file_.size() < prefix + length) fail("the header is cut short");
  const std::string_view header(text + prefix, length);
  data_offset_ = prefix + length;
  descr_ = value_of(header, "descr");
  if (descr_.empty()) fail("the header names no dtype");
  if (value_of(header, "fortran_order") != "False") fail("the array is not in C order");
  if (!parse_shape(value_of(header, "shape"), shape_)) fail("the header's shape is damaged");
}

std::int64_t NpyArray::row_items() const {
  std::int64_t items = 1;
  for (std::size_t i = 1; i < shape_.size(); ++i) items *= shape_[i];
  return items;
}

void NpyArray::require(const std::string& descr, std::size_t item_bytes, std::span<const std::int64_t> shape) {
  if (descr_ != descr) fail(fmt::format("dtype {} where {} was expected", descr_, descr));
  const bool same = shape_.size() == shape.size() &&
                    std::equal(shape_.begin(), shape_.end(), shape.begin(),
                               [](std::int64_t have, std::int64_t want) { return want < 0 || have == want; });
  if (!same) fail(fmt::format("shape {} where {} was expected (-1: any)", shape_, shape));
  std::size_t bytes = item_bytes;
  for (const std::int64_t extent : shape_) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) fail("the header's shape is damaged");
  }
  if (file_.size() - data_offset_ < bytes) {
    fail(fmt::format("cut short: {} bytes of data where the header promises {}", file_.size() - data_offset_, bytes));
  }
  item_bytes_ = item_bytes;
}

std::span<const std::byte> NpyArray::rows(std::int64_t first, std::int64_t count) const {
  const std::size_t bytes = static_cast<std::size_t>(row_items()) * item_bytes_;
  return file_.subspan(data_offset_ + static_cast<std::size_t>(first) * bytes, static_cast<std::size_t>(count) * bytes);
}

}  // namespace saccade
