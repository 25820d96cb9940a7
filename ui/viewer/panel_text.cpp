#include "ui/viewer/panel_text.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <vector>

namespace saccade::ui {
namespace {

// Latin, Greek, Cyrillic, and the signs between them.
constexpr ImWchar kAlways[] = {0x20, 0x24f, 0x370, 0x52f, 0x2000, 0x206f, 0x20a0, 0x20bf, 0x2190, 0x21ff, 0};

bool always(ImWchar letter) {
  for (std::size_t i = 0; kAlways[i] != 0; i += 2) {
    if (letter >= kAlways[i] && letter <= kAlways[i + 1]) return true;
  }
  return false;
}

// Adds a font to ImGui's, its letters to the one before where `merge` says so. False: it can't be read.
bool add_font(const FontFile& file, float height_px, const ImVector<ImWchar>& letters, bool merge) {
  const std::vector<std::uint8_t> bytes = read_font(file);
  if (bytes.empty()) return false;
  void* owned = ImGui::MemAlloc(bytes.size());  // the atlas frees it
  std::memcpy(owned, bytes.data(), bytes.size());
  ImFontConfig config;
  config.FontNo = file.index;
  config.MergeMode = merge;
  config.OversampleH = 2;
  config.PixelSnapH = true;
  ImGui::GetIO().Fonts->AddFontFromMemoryTTF(owned, static_cast<int>(bytes.size()), height_px, &config, letters.Data);
  return true;
}

void use_builtin(float height_px) {
  ImFontConfig config;
  config.SizePixels = height_px;
  ImGui::GetIO().Fonts->Clear();
  ImGui::GetIO().Fonts->AddFontDefault(&config);
}

}  // namespace

void PanelText::need(std::string_view utf8) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(utf8.begin(), utf8.end(), is_ascii)) return;
  const ImVector<ImU32> before = needed_.UsedChars;
  needed_.AddText(utf8.data(), utf8.data() + utf8.size());
  changed_ |= std::memcmp(before.Data, needed_.UsedChars.Data, static_cast<std::size_t>(before.size_in_bytes())) != 0;
}

// Letters that are always there, or that no font has, are in none of them.
std::map<FontFile, ImFontGlyphRangesBuilder> PanelText::by_file() const {
  std::map<FontFile, ImFontGlyphRangesBuilder> files;
  for (std::size_t letter = 0x80; letter <= IM_UNICODE_CODEPOINT_MAX; ++letter) {
    if (!needed_.GetBit(letter) || always(static_cast<ImWchar>(letter))) continue;
    if (const auto file = font_with(static_cast<char32_t>(letter))) {
      files[*file].AddChar(static_cast<ImWchar>(letter));
    }
  }
  return files;
}

void PanelText::load(float height_px) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  changed_ = false;
  const std::optional<FontFile> panel = panel_font();
  auto files = by_file();
  std::list<ImVector<ImWchar>> letters;  // until the atlas is built
  ImFontGlyphRangesBuilder own;
  own.AddRanges(kAlways);
  if (panel && files.contains(*panel)) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(own.UsedChars.Size); ++i) {
      own.UsedChars.Data[i] |= files[*panel].UsedChars.Data[i];
    }
    files.erase(*panel);
  }
  own.BuildRanges(&letters.emplace_back());
  if (!panel || !add_font(*panel, height_px, letters.back(), false)) return use_builtin(height_px);
  for (auto& [file, builder] : files) {
    builder.BuildRanges(&letters.emplace_back());
    add_font(file, height_px, letters.back(), true);
  }
  if (!atlas.Build()) use_builtin(height_px);  // a font that ImGui can't read
}

}  // namespace saccade::ui
