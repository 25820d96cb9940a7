// Textures for one stream after the other. On a GPU, making and freeing one stalls all that the device is at.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "pipeline/backend/backend.h"

namespace saccade {

class KeptTextures;

// Gives a texture back to where it is kept, or destroys it.
class TextureReturn {
 public:
  TextureReturn() = default;
  TextureReturn(KeptTextures& to, const BackendConfig& config) : to_(&to), config_(config) {}
  void operator()(Texture* texture) const noexcept;

 private:
  KeptTextures* to_ = nullptr;
  BackendConfig config_;  // what it was made by
};
using TexturePtr = std::unique_ptr<Texture, TextureReturn>;

// Any thread. Outlives the textures that it gave. A kept one is given again only where backend, way of working, device,
// size and format are the same; it starts over (ReusableTexture), so nothing of its last stream is left. OpenGL's
// are never kept.
class KeptTextures {
 public:
  // most: textures at a time, those in use among them. Where all are in use, more are made, and not kept.
  explicit KeptTextures(std::size_t most) : most_(most) {}
  KeptTextures(const KeptTextures&) = delete;
  KeptTextures& operator=(const KeptTextures&) = delete;

  // Throws as make_texture(). Before it says that memory is short, it frees what is kept.
  TexturePtr take(const BackendConfig& config, const PyramidLayout& layout);
  std::size_t idle() const;  // kept, and not in use

 private:
  friend class TextureReturn;
  struct Kept {
    std::unique_ptr<Texture> texture;
    BackendConfig config;
  };
  std::unique_ptr<Texture> find(const BackendConfig& config, const PyramidLayout& layout);
  std::unique_ptr<Texture> make(const BackendConfig& config, const PyramidLayout& layout);
  void give(std::unique_ptr<Texture> texture, const BackendConfig& config);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::size_t in_use_ = 0;
  std::deque<Kept> kept_;  // oldest first
};

}  // namespace saccade
