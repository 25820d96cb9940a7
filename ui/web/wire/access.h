// Who may do what in a served viewer: tokens, roles, and the origins whose pages may connect. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saccade::ui {

enum class Role : std::uint8_t { kNone, kWatch, kControl };

// 128 random bits as 32 hexadecimal digits. Throws UnavailableError when the system has no randomness.
std::string random_token();
// A token that a person chose: 16 to 128 of [A-Za-z0-9._~-], which a URL's fragment keeps as they are.
bool is_good_token(std::string_view token);
// The token of those who only watch: it follows from the other, which can't be found from it.
std::string watch_token_of(std::string_view control_token);

// "https://hub.example:8443" in lower case, without a default port; nullopt: it is no origin of http or https.
std::optional<std::string> normal_origin(std::string_view text);

// Immutable, any thread.
class Access {
 public:
  // origins: those that may connect besides the server's own, as normal_origin() writes them.
  explicit Access(std::string control_token, std::vector<std::string> origins = {});

  Role role_of(std::string_view token) const;  // takes as long for every token
  // Of a request with these headers. Without `origin` it comes from no page, and the token alone decides.
  bool allows(std::optional<std::string_view> origin, std::string_view host) const;

  const std::string& control_token() const { return control_; }
  const std::string& watch_token() const { return watch_; }
  const std::vector<std::string>& origins() const { return origins_; }

 private:
  std::string control_, watch_;
  std::vector<std::string> origins_;
};

}  // namespace saccade::ui
