#include "pipeline/backend/kept_textures.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "gpu/device_error.h"
#include "gpu/nvdec/kept_decoders.h"

namespace saccade {
namespace {

// What start_over() doesn't settle.
bool made_alike(const BackendConfig& a, const BackendConfig& b) {
  return a.backend == b.backend && a.staged == b.staged && a.upload == b.upload && a.frames == b.frames &&
         a.calibrate == b.calibrate && a.device == b.device;
}

}  // namespace

void TextureReturn::operator()(Texture* texture) const noexcept {
  std::unique_ptr<Texture> owned(texture);
  if (to_ != nullptr) to_->give(std::move(owned), config_);
}

TexturePtr KeptTextures::take(const BackendConfig& config, const PyramidLayout& layout) {
  BackendConfig wanted = config;
  wanted.kept = true;
  std::unique_ptr<Texture> texture = find(wanted, layout);
  try {
    if (texture != nullptr) {
      texture->capabilities().reusable->start_over(wanted.diff);
    } else {
      texture = make(wanted, layout);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --in_use_;
    throw;
  }
  return {texture.release(), TextureReturn(*this, wanted)};
}

std::size_t KeptTextures::idle() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

// A kept one; null: there is none. Counts it, or the one that is made in its stead, as in use.
std::unique_ptr<Texture> KeptTextures::find(const BackendConfig& config, const PyramidLayout& layout) {
  std::unique_ptr<Texture> texture;
  std::vector<Kept> gone;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return made_alike(kept.config, config) && kept.texture->layout() == layout;
  });
  if (found != kept_.end()) {
    texture = std::move(found->texture);
    kept_.erase(found);
  }
  ++in_use_;
  while (!kept_.empty() && in_use_ + kept_.size() > most_) {
    gone.push_back(std::move(kept_.front()));
    kept_.pop_front();
  }
  return texture;
}

std::unique_ptr<Texture> KeptTextures::make(const BackendConfig& config, const PyramidLayout& layout) {
  try {
    return make_texture(config, layout);
  } catch (const DeviceError&) {
    std::deque<Kept> all;
    {
      const std::lock_guard lock(mutex_);
      all = std::exchange(kept_, {});
    }
    if (!drop_idle_decoders() && all.empty()) throw;
  }
  return make_texture(config, layout);
}

// A device that fails while it is waited for has lost what it held.
void KeptTextures::give(std::unique_ptr<Texture> texture, const BackendConfig& config) {
  bool good = false;
  try {
    ReusableTexture* const reusable = texture->capabilities().reusable;
    if (reusable != nullptr) reusable->start_over({});
    good = reusable != nullptr;
  } catch (const std::exception&) {
  }
  if (!good) texture.reset();
  const std::lock_guard lock(mutex_);
  --in_use_;
  if (good && in_use_ + kept_.size() < most_) kept_.push_back({std::move(texture), config});
}

}  // namespace saccade
