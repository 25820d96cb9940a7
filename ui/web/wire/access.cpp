#include "ui/web/wire/access.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/lower_case.h"

namespace saccade::ui {
namespace {

constexpr std::size_t kToken_bytes = 16;

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest digest_of(std::string_view text) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

// Digests are of one length, so that the comparison tells nothing of the token's.
bool equal(std::string_view one, std::string_view other) {
  const Digest a = digest_of(one), b = digest_of(other);
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz", kDigits = "0123456789";

bool is_authority(std::string_view text) {
  const bool brackets = text.starts_with('[');
  const std::size_t colon = text.find(':', brackets ? std::min(text.find(']'), text.size()) : 0);
  const std::string_view name = text.substr(0, colon);
  if (name.empty() || (brackets && !name.ends_with(']'))) return false;
  const std::string allowed = std::string(kLetters) + std::string(kDigits) + (brackets ? "[]:." : "-._");
  if (name.find_first_not_of(allowed) != std::string_view::npos) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view port = text.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && port.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, kToken_bytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw UnavailableError("view: the system gives no random numbers for a token");
  }
  return hexadecimal(bytes);
}

bool is_good_token(std::string_view token) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '~' || c == '-';
  };
  return token.size() >= 16 && token.size() <= 128 && std::all_of(token.begin(), token.end(), good);
}

std::string watch_token_of(std::string_view control_token) {
  const Digest digest = digest_of("saccade watch " + std::string(control_token));
  return hexadecimal(std::span(digest).first(kToken_bytes));
}

std::optional<std::string> normal_origin(std::string_view text) {
  const std::string origin = lower_case(text);
  const std::size_t mark = origin.find("://");
  if (mark == std::string::npos) return std::nullopt;
  const std::string_view scheme = std::string_view(origin).substr(0, mark);
  std::string_view authority = std::string_view(origin).substr(mark + 3);
  if ((scheme != "http" && scheme != "https") || !is_authority(authority)) return std::nullopt;
  const std::string_view standard = scheme == "http" ? ":80" : ":443";
  if (authority.ends_with(standard) && is_authority(authority.substr(0, authority.size() - standard.size()))) {
    authority.remove_suffix(standard.size());
  }
  return fmt::format("{}://{}", scheme, authority);
}

Access::Access(std::string control_token, std::vector<std::string> origins)
    : control_(std::move(control_token)), watch_(watch_token_of(control_)), origins_(std::move(origins)) {}

Role Access::role_of(std::string_view token) const {
  const bool control = equal(token, control_), watch = equal(token, watch_);
  return control ? Role::kControl : watch ? Role::kWatch : Role::kNone;
}

bool Access::allows(std::optional<std::string_view> origin, std::string_view host) const {
  if (!origin) return true;
  const auto normal = normal_origin(*origin);
  if (!normal) return false;
  const std::string scheme = normal->substr(0, normal->find("://") + 3);
  return normal_origin(scheme + std::string(host)) == normal ||
         std::find(origins_.begin(), origins_.end(), *normal) != origins_.end();
}

}  // namespace saccade::ui
