// Reads NumPy's .npy files (format 1.0 to 3.0), mapped into memory. Source: numpy.lib.format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace saccade {

// Move-only; the bytes stay mapped while it lives. A file longer than its header says is read as far as the header
// says: that is what a writer that is still running, or was killed, leaves.
class NpyArray {
 public:
  // Throws InputError, naming the file and the fault: missing, not .npy, cut short, Fortran order.
  explicit NpyArray(const std::string& path);
  ~NpyArray();
  NpyArray(NpyArray&& other) noexcept;
  NpyArray& operator=(NpyArray&&) = delete;

  const std::string& path() const { return path_; }
  const std::string& descr() const { return descr_; }  // without blanks: "'|u1'", "[('frame','<i8'),...]"
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t rows() const { return shape_.empty() ? 1 : shape_.front(); }
  std::int64_t row_items() const;  // items in one row: the product of the other extents

  // Throws InputError unless the array has this dtype and this shape; an extent of -1 accepts any.
  void require(const std::string& descr, std::size_t item_bytes, std::span<const std::int64_t> shape);
  std::span<const std::byte> row(std::int64_t index) const { return rows(index, 1); }  // after require()
  std::span<const std::byte> rows(std::int64_t first, std::int64_t count) const;       // the same

 private:
  void parse();
  [[noreturn]] void fail(const std::string& fault) const;

  std::string path_;
  std::string descr_;
  std::vector<std::int64_t> shape_;
  std::span<const std::byte> file_;
  std::size_t data_offset_ = 0;
  std::size_t item_bytes_ = 0;
};

}  // namespace saccade
