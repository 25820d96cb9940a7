#include "capi/stream/token_rules.h"

#include <fmt/format.h>

#include "capi/error.h"
#include "capi/structs.h"

namespace saccade::capi {
namespace {

void check_size_px(const char* function, std::int32_t width, std::int32_t height) {
  if (width >= 1 && height >= 1 && width <= kMostViewSidePx && height <= kMostViewSidePx) return;
  refuse(function, fmt::format("a picture of {}x{}; its sides are 1 to {}", width, height, kMostViewSidePx));
}

}  // namespace

TokenRule rule_of(const char* function, const saccade_token_rule* rule) {
  const saccade_token_rule asked = read(function, rule);
  require(asked.resizing >= SACCADE_RESIZING_MULTIPLES && asked.resizing <= SACCADE_RESIZING_CROPPED, function,
          "there is no such resizing");
  require(asked.answer >= SACCADE_ANSWER_PIXELS && asked.answer <= SACCADE_ANSWER_NORMALIZED, function,
          "there is no such answer");
  const TokenRule out{.resizing = static_cast<Resizing>(asked.resizing),
                      .answer = static_cast<Answer>(asked.answer),
                      .unit_px = asked.unit_px,
                      .unit_tokens = asked.unit_tokens,
                      .base_tokens = asked.base_tokens,
                      .min_pixels = asked.min_pixels,
                      .max_pixels = asked.max_pixels,
                      .max_units = asked.max_units,
                      .max_side_px = asked.max_side_px,
                      .max_short_px = asked.max_short_px,
                      .max_aspect = asked.max_aspect,
                      .step_px = asked.step_px,
                      .most_images = asked.most_images};
  check_rule(out);
  return out;
}

}  // namespace saccade::capi

using namespace saccade;
using namespace saccade::capi;

saccade_status saccade_token_rule_describe(std::size_t index, saccade_token_rule* out) {
  constexpr const char* kFunction = "saccade_token_rule_describe";
  return guarded([&] {
    if (index >= named_rules().size()) return SACCADE_END;
    const auto& [name, rule, source, date] = named_rules()[index];
    fill(kFunction, out,
         {.struct_size = 0,
          .name = name,
          .source = source,
          .date = date,
          .unit_tokens = rule.unit_tokens,
          .min_pixels = rule.min_pixels,
          .max_pixels = rule.max_pixels,
          .resizing = static_cast<std::int32_t>(rule.resizing),
          .answer = static_cast<std::int32_t>(rule.answer),
          .unit_px = rule.unit_px,
          .base_tokens = rule.base_tokens,
          .max_units = rule.max_units,
          .max_side_px = rule.max_side_px,
          .max_short_px = rule.max_short_px,
          .max_aspect = rule.max_aspect,
          .step_px = rule.step_px,
          .most_images = rule.most_images});
    return SACCADE_OK;
  });
}

saccade_status saccade_token_rule_count(const saccade_token_rule* rule, std::int32_t width, std::int32_t height,
                                        std::int32_t* tokens, std::int32_t* seen_width, std::int32_t* seen_height) {
  constexpr const char* kFunction = "saccade_token_rule_count";
  return guarded([&] {
    const TokenRule asked = rule_of(kFunction, rule);
    check_size_px(kFunction, width, height);
    const auto seen = seen_size(asked, {width, height});
    if (!seen) refuse(kFunction, fmt::format("the model refuses a picture of {}x{}", width, height));
    if (tokens != nullptr) *tokens = tokens_of(asked, {width, height}).value_or(0);
    if (seen_width != nullptr) *seen_width = seen->width;
    if (seen_height != nullptr) *seen_height = seen->height;
    return SACCADE_OK;
  });
}

saccade_status saccade_token_rule_fit(const saccade_token_rule* rule, std::int32_t width, std::int32_t height,
                                      std::int32_t tokens, std::int32_t* fit_width, std::int32_t* fit_height) {
  constexpr const char* kFunction = "saccade_token_rule_fit";
  return guarded([&] {
    require(fit_width != nullptr && fit_height != nullptr, kFunction, "fit_width or fit_height is NULL");
    const TokenRule asked = rule_of(kFunction, rule);
    check_size_px(kFunction, width, height);
    const auto size = largest_kept_size(asked, {width, height}, tokens);
    if (!size) return SACCADE_END;
    *fit_width = size->width;
    *fit_height = size->height;
    return SACCADE_OK;
  });
}
