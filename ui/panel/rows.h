// A row of the settings panel: its label, its control, the value beside it, and a button that resets it.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/enum_names.h"
#include "ui/panel/overlay_text.h"
#include "ui/tuning/words.h"

namespace saccade::ui {

struct Row {
  const char* label;
  const char* name;  // by which Overlay::control() finds it; its button is "reset-NAME", its value "value-NAME"
  const char* tip;
};

// What the person did. With kReset the row's caller sets what it began with.
enum class RowEdit : unsigned char { kNone, kChanged, kReset };

// The label at the left; the control that follows fills the rest but for `free` pixels at the right.
void row_label(const Row& row, float free = 0);

// differs: the row is not as it began, so that it has a button. Values are kept inside the range, typed ones too.
RowEdit slider_row(const Row& row, int& value, int low, int high, const char* format, bool differs, const Note& note,
                   ImGuiSliderFlags flags = 0);
RowEdit slider_row(const Row& row, double& value, double low, double high, const char* format, bool differs,
                   const Note& note, ImGuiSliderFlags flags = 0);

// The same where the row is one number that nothing else depends on. True: it changed.
template <typename T>
bool number_row(const Row& row, T& value, T low, T high, const char* format, T initial, const Note& note,
                ImGuiSliderFlags flags = 0) {
  const RowEdit edit = slider_row(row, value, low, high, format, value != initial, note, flags);
  if (edit == RowEdit::kReset) value = initial;
  return edit != RowEdit::kNone;
}

// At the row's end. True: it was pressed.
bool reset_button(const Row& row, bool differs, const Note& note);
float reset_width();  // of it, with the gap before it

// A list of words to choose from; chosen: the index of the present one, or past the end: `other` is shown.
RowEdit combo_row(const Row& row, std::span<const char* const> words, std::size_t& chosen, bool differs,
                  const Note& note, const char* other = "");

// A list of an enum's values, in words. words_of: null for those that are not offered.
template <NamedEnum E, typename WordsOf>
RowEdit words_row(const Row& row, E& value, bool differs, const Note& note, const WordsOf& words_of) {
  std::array<const char*, 16> words{};
  std::array<E, 16> values{};
  std::size_t count = 0, chosen = words.size();
  for (const EnumName<E>& each : names_of(value)) {
    const char* const text = words_of(each.value);
    if (text == nullptr) continue;
    if (each.value == value) chosen = count;
    words[count] = text;
    values[count++] = each.value;
  }
  const RowEdit edit = combo_row(row, std::span(words).first(count), chosen, differs, note);
  if (edit == RowEdit::kChanged) value = values[chosen];
  return edit;
}

template <NamedEnum E>
RowEdit words_row(const Row& row, E& value, bool differs, const Note& note) {
  return words_row(row, value, differs, note, [](E each) { return in_words(each); });
}

}  // namespace saccade::ui
