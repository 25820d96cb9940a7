// The rules that are published. A name stands for all models of its family that count alike.
//
// Qwen: the Hub's preprocessor_config.json (patch 14 or 16, merge 2) and smart_resize() of transformers.
// InternVL, Gemma, LLaVA-OneVision: the processors of transformers with the Hub's configurations.
// OpenAI: with "detail": "high". Claude: the reference implementation that the page has. Gemini: Google calls its
// formula approximate, and does not say how tiles are resized; gemini-3 counts by media_resolution and is not here.
#include <array>

#include "pipeline/views/token_rule.h"

namespace saccade {
namespace {

constexpr const char* kRead = "2026-11-30";
constexpr const char* kQwen3Source =
    "https://huggingface.co/Qwen/Qwen3-VL-8B-Instruct/blob/main/preprocessor_config.json";
constexpr const char* kQwen2Source =
    "https://huggingface.co/Qwen/Qwen2-VL-7B-Instruct/blob/main/preprocessor_config.json";
constexpr const char* kQwen25Source =
    "https://huggingface.co/Qwen/Qwen2.5-VL-7B-Instruct/blob/main/preprocessor_config.json";
constexpr const char* kInternVl = "https://huggingface.co/docs/transformers/model_doc/internvl";
constexpr const char* kLlava = "https://huggingface.co/docs/transformers/model_doc/llava_onevision";
constexpr const char* kGemma = "https://huggingface.co/docs/transformers/model_doc/gemma3";
constexpr const char* kOpenAi = "https://developers.openai.com/api/docs/guides/images-vision";
constexpr const char* kClaude = "https://platform.claude.com/docs/en/build-with-claude/vision-coordinates";
constexpr const char* kGemini = "https://ai.google.dev/gemini-api/docs/image-understanding";

constexpr TokenRule qwen(Answer answer, int unit_px, std::int64_t least, std::int64_t most) {
  return {.answer = answer,
          .unit_px = unit_px,
          .min_pixels = least,
          .max_pixels = most,
          .max_aspect = 200,
          .step_px = unit_px};
}

constexpr TokenRule patches(double tokens, int budget) {
  return {.resizing = Resizing::kBudget,
          .unit_px = 32,
          .unit_tokens = tokens,
          .max_units = budget,
          .max_side_px = 2048,
          .step_px = 32};
}

constexpr TokenRule tiles(int base, double each) {
  return {.resizing = Resizing::kTiles,
          .unit_px = 512,
          .unit_tokens = each,
          .base_tokens = base,
          .max_side_px = 2048,
          .max_short_px = 768,
          .step_px = 256};
}

// With more than 20 images in a message Claude has other limits.
constexpr TokenRule claude(int side_px, int most) {
  return {.resizing = Resizing::kPadded, .max_units = most, .max_side_px = side_px, .most_images = 20};
}

constexpr TokenRule kInternVlRule{.resizing = Resizing::kAspect,
                                  .answer = Answer::kThousandths,
                                  .unit_px = 448,
                                  .unit_tokens = 256,
                                  .max_units = 12,
                                  .step_px = 448};

// Of a prompt with one image. 729 tokens a tile; more than 9 tiles' are interpolated.
constexpr TokenRule kLlavaRule{.resizing = Resizing::kAnyres,
                               .answer = Answer::kNormalized,
                               .unit_px = 384,
                               .unit_tokens = 729,
                               .base_tokens = 729,
                               .max_units = 9,
                               .max_side_px = 2304,
                               .step_px = 384,
                               .most_images = 1};

constexpr TokenRule fixed(Answer answer, int side_px, int tokens) {
  return {.resizing = Resizing::kFixed,
          .answer = answer,
          .unit_px = side_px,
          .unit_tokens = static_cast<double>(tokens),
          .step_px = side_px};
}

constexpr TokenRule kGeminiRule{.resizing = Resizing::kCropped,
                                .answer = Answer::kThousandths,
                                .unit_px = 768,
                                .unit_tokens = 258,
                                .max_short_px = 384,
                                .step_px = 384};

constexpr std::array kRules{
    NamedRule{"qwen2-vl", qwen(Answer::kThousandths, 28, 3136, 12845056), kQwen2Source, kRead},
    NamedRule{"qwen2.5-vl", qwen(Answer::kPixels, 28, 3136, 12845056), kQwen25Source, kRead},
    NamedRule{"qwen3-vl", qwen(Answer::kThousandths, 32, 65536, 16777216), kQwen3Source, kRead},
    NamedRule{"internvl", kInternVlRule, kInternVl, kRead},
    NamedRule{"llava-onevision", kLlavaRule, kLlava, kRead},
    NamedRule{"llava-onevision-multi", fixed(Answer::kNormalized, 384, 730), kLlava, kRead},
    NamedRule{"gemma-3", fixed(Answer::kThousandths, 896, 256), kGemma, kRead},
    NamedRule{"gpt-4o", tiles(85, 170), kOpenAi, kRead},
    NamedRule{"gpt-4o-mini", tiles(2833, 5667), kOpenAi, kRead},
    NamedRule{"gpt-4.1", tiles(85, 170), kOpenAi, kRead},
    NamedRule{"gpt-5.1", tiles(70, 140), kOpenAi, kRead},
    NamedRule{"gpt-4.1-mini", patches(1.62, 6144), kOpenAi, kRead},
    NamedRule{"o4-mini", patches(1.72, 1536), kOpenAi, kRead},
    NamedRule{"gpt-5-mini", patches(1.2, 1536), kOpenAi, kRead},
    NamedRule{"gpt-5.2", patches(1.2, 6144), kOpenAi, kRead},
    NamedRule{"gpt-5.4", patches(1.2, 2500), kOpenAi, kRead},
    NamedRule{"gpt-5.5", patches(1.2, 2500), kOpenAi, kRead},
    NamedRule{"gpt-5.6", patches(1.2, 2500), kOpenAi, kRead},
    NamedRule{"claude", claude(1568, 1568), kClaude, kRead},
    NamedRule{"claude-high", claude(2576, 4784), kClaude, kRead},
    NamedRule{"gemini-2.5", kGeminiRule, kGemini, kRead},
};

}  // namespace

std::span<const NamedRule> named_rules() { return kRules; }

const NamedRule* find_rule(std::string_view name) {
  for (const NamedRule& row : kRules) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

}  // namespace saccade
