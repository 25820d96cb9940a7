// The lines of a text file, and the fields of a line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

// All of a file as UTF-8: a byte order mark goes, UTF-16 is converted. Throws InputError.
std::string read_text(const std::string& path);

struct TextLine {
  int number = 0;         // from 1
  std::string_view text;  // without spaces at its ends; tabs stay
};

// Walks the lines of `text`, which the caller keeps; LF, CR LF and CR end one. Empty lines are left out.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next(TextLine& line);  // false: the end

 private:
  std::string_view rest_;
  int number_ = 0;
};

std::string_view trimmed(std::string_view text);

// ',', ';', '\t', or ' ' for any run of spaces: what separates this line into the most sensible fields.
char separator_of(std::string_view line);
// The fields, without quotes and spaces around them. `out` is overwritten.
void split_fields(std::string_view line, char separator, std::vector<std::string_view>& out);

// A number and nothing else. `comma`: 0,5 is one half, as where semicolons or tabs separate.
std::optional<double> parse_decimal(std::string_view text, bool comma = false);
// Empty, or a word for "no value": nan, NA, null, ".", "-".
bool is_missing(std::string_view text);
// A field for an error: short, printable.
std::string shown(std::string_view text);

}  // namespace saccade
