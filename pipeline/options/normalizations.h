// Published means and deviations of samples in [0, 1]: OpenAI's CLIP, torchvision's ImageNet models, and SigLIP.
#pragma once

#include <array>

namespace saccade {

struct Normalization {
  const char* name;
  std::array<double, 3> mean, deviation;  // of each channel
};

inline constexpr Normalization kNormalizations[] = {
    {"none", {0, 0, 0}, {1, 1, 1}},
    {"clip", {0.48145466, 0.4578275, 0.40821073}, {0.26862954, 0.26130258, 0.27577711}},
    {"imagenet", {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}},
    {"siglip", {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}};

}  // namespace saccade
