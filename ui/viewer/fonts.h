// Files of outline fonts on this machine, by fontconfig.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace saccade::ui {

struct FontFile {
  std::string path;
  int index = 0;  // of the font in a collection
  auto operator<=>(const FontFile&) const = default;
};

// The panel's: DejaVu Sans Mono, or what fontconfig puts in its place. None: there is no outline font.
std::optional<FontFile> panel_font();

// One that has this letter.
std::optional<FontFile> font_with(char32_t letter);

// All of it; empty when it can't be read.
std::vector<std::uint8_t> read_font(const FontFile& file);

}  // namespace saccade::ui
