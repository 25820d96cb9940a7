// What a model's server does with a picture: the size that it resizes it to, and the tokens that it counts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace saccade {

struct ImageSize {
  int width = 0, height = 0;
  bool operator==(const ImageSize&) const = default;
};

// How a server resizes. Units are square: of a patch that is a token, or of a tile.
enum class Resizing : std::uint8_t {
  kMultiples,  // to multiples of a unit, of min_pixels to max_pixels: Qwen
  kBudget,     // down to max_side_px, then to max_units patches: OpenAI's patches
  kPadded,     // down until max_side_px and max_units patches hold, then padded: Claude
  kTiles,      // down to max_side_px, then to max_short_px; tiles are counted: OpenAI's tiles
  kAspect,     // to the grid of at most max_units tiles whose shape is nearest, and a thumbnail: InternVL
  kAnyres,     // into the grid of tiles that fits best, sides up to max_side_px, and a thumbnail: LLaVA
  kFixed,      // to one unit: Gemma
  kCropped,    // none up to max_short_px a side; else cut into tiles, whose side follows the short one: Gemini
};

// The coordinates in which a model answers about a picture. All have their origin at its top left corner.
enum class Answer : std::uint8_t {
  kPixels,       // of the picture as the model sees it
  kThousandths,  // 0 to 1000
  kNormalized,   // 0 to 1
};

inline constexpr int kMostViewSidePx = 65536;
inline constexpr int kMostViews = 20;  // of a rule that names no limit

// What is 0 does not apply.
struct TokenRule {
  Resizing resizing = Resizing::kMultiples;
  Answer answer = Answer::kPixels;
  int unit_px = 28;
  double unit_tokens = 1;  // of a patch or a tile; an image's tokens are rounded up
  int base_tokens = 0;     // of an image, beside its units
  std::int64_t min_pixels = 0, max_pixels = 0;
  int max_units = 0;
  int max_side_px = 0;   // of the long side
  int max_short_px = 0;  // of the short side
  int max_aspect = 0;    // long side over short side
  int step_px = 28;      // views have multiples of this
  int most_images = 0;   // of a message
  bool operator==(const TokenRule&) const = default;
};

// Throws UsageError for a rule that no image can follow.
void check_rule(const TokenRule& rule);

// The size that the server makes of a picture. nullopt: it refuses this one (max_aspect).
std::optional<ImageSize> seen_size(const TokenRule& rule, ImageSize size);
// The tokens of a picture of this size, after that resizing; nullopt as above.
std::optional<int> tokens_of(const TokenRule& rule, ImageSize size);
// Whether the server leaves it as it is.
bool is_kept(const TokenRule& rule, ImageSize size);
// The smallest size that is kept and holds this one; nullopt: there is none.
std::optional<ImageSize> kept_size(const TokenRule& rule, ImageSize holds);
// The largest kept size of at most so many tokens, as near to this shape as sizes come; nullopt: none is so small.
std::optional<ImageSize> largest_kept_size(const TokenRule& rule, ImageSize shape, int tokens);

// One row of the table: what is published, where, and when that was read.
struct NamedRule {
  const char* name;
  TokenRule rule;
  const char* source;
  const char* date;
};
std::span<const NamedRule> named_rules();
// Null: there is no such name.
const NamedRule* find_rule(std::string_view name);

}  // namespace saccade
