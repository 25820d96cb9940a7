#include "ui/viewer/fonts.h"

#include <fontconfig/fontconfig.h>

#include <fstream>
#include <iterator>
#include <memory>

namespace saccade::ui {
namespace {

struct PatternDeleter {
  void operator()(FcPattern* pattern) const noexcept { FcPatternDestroy(pattern); }
};
using PatternPtr = std::unique_ptr<FcPattern, PatternDeleter>;

struct CharSetDeleter {
  void operator()(FcCharSet* set) const noexcept { FcCharSetDestroy(set); }
};
using CharSetPtr = std::unique_ptr<FcCharSet, CharSetDeleter>;

// Outlines in one colour.
PatternPtr new_pattern() {
  PatternPtr pattern(FcPatternCreate());
  if (!pattern) return pattern;
  FcPatternAddString(pattern.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("DejaVu Sans Mono"));
  FcPatternAddString(pattern.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("monospace"));
  FcPatternAddBool(pattern.get(), FC_SCALABLE, FcTrue);
  FcPatternAddBool(pattern.get(), FC_COLOR, FcFalse);
  return pattern;
}

PatternPtr best_match(FcPattern& pattern) {
  FcConfigSubstitute(nullptr, &pattern, FcMatchPattern);
  FcDefaultSubstitute(&pattern);
  FcResult result = FcResultNoMatch;
  return PatternPtr(FcFontMatch(nullptr, &pattern, &result));
}

std::optional<FontFile> file_of(const FcPattern& pattern) {
  FcChar8* path = nullptr;
  FcBool scalable = FcFalse;
  if (FcPatternGetBool(&pattern, FC_SCALABLE, 0, &scalable) != FcResultMatch || scalable == FcFalse) return {};
  if (FcPatternGetString(&pattern, FC_FILE, 0, &path) != FcResultMatch) return {};
  FontFile file{reinterpret_cast<const char*>(path), 0};
  FcPatternGetInteger(&pattern, FC_INDEX, 0, &file.index);
  file.index &= 0xffff;  // above lies the instance of a variable font
  return file;
}

}  // namespace

std::optional<FontFile> panel_font() {
  const PatternPtr wanted = new_pattern();
  const PatternPtr found = wanted ? best_match(*wanted) : nullptr;
  return found ? file_of(*found) : std::nullopt;
}

std::optional<FontFile> font_with(char32_t letter) {
  const PatternPtr wanted = new_pattern();
  const CharSetPtr letters(FcCharSetCreate());
  if (!wanted || !letters) return {};
  FcCharSetAddChar(letters.get(), letter);
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, letters.get());
  const PatternPtr found = best_match(*wanted);
  FcCharSet* has = nullptr;
  if (!found || FcPatternGetCharSet(found.get(), FC_CHARSET, 0, &has) != FcResultMatch) return {};
  return FcCharSetHasChar(has, letter) == FcTrue ? file_of(*found) : std::nullopt;
}

std::vector<std::uint8_t> read_font(const FontFile& file) {
  std::ifstream stream(file.path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace saccade::ui
