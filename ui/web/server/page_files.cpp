#include "ui/web/server/page_files.h"

namespace saccade::ui {

Page find_page(std::string_view path) {
  if (path == "/") path = "/index.html";
  if (!path.starts_with('/')) return {};
  const std::string_view body = page_file(path.substr(1));
  if (path.ends_with(".js")) return {body, "text/javascript; charset=utf-8"};
  if (path.ends_with(".css")) return {body, "text/css; charset=utf-8"};
  return {body, "text/html; charset=utf-8"};
}

std::string content_policy(const std::vector<std::string>& frames) {
  std::string policy =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'self' http://localhost:* http://127.0.0.1:* "
      "https://localhost:* vscode-webview:";
  for (const std::string& origin : frames) policy += " " + origin;
  return policy;
}

}  // namespace saccade::ui
