#include "app/files/sha256.h"

#include <openssl/evp.h>

#include <array>

namespace saccade {

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> digest{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) { EVP_DigestInit_ex(state_->digest.get(), EVP_sha256(), nullptr); }

Sha256::~Sha256() = default;

void Sha256::add(const void* data, std::size_t size) { EVP_DigestUpdate(state_->digest.get(), data, size); }

std::string Sha256::hexadecimal() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned count = 0;
  EVP_DigestFinal_ex(state_->digest.get(), bytes.data(), &count);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string sha256_of(std::string_view text) {
  Sha256 digest;
  digest.add(text);
  return digest.hexadecimal();
}

}  // namespace saccade
