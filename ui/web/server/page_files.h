// The page's files, as they are served.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace saccade::ui {

// Of ui/web/assets, by the file's name; empty: there is none. Written by the build.
std::string_view page_file(std::string_view name);

struct Page {
  std::string_view body, type;  // empty body: there is no such page
};
Page find_page(std::string_view path);  // "/", "/viewer.js" and so on

// What a browser may do with the page: nothing but its own files and its own socket. frames: origins that may hold it.
std::string content_policy(const std::vector<std::string>& frames);

}  // namespace saccade::ui
