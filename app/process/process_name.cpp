#include "app/process/process_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

namespace saccade {
namespace {

// The 22nd field of /proc/self/stat; the second, the program's name, may hold blanks.
std::string start_ticks() {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field.empty() ? "0" : field;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == 0) return "host";
  std::string text = name.data();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '/' || c == '.'; }, '-');
  return text;
}

std::string process_name() { return fmt::format("{}.{}.{}", host_name(), getpid(), start_ticks()); }

}  // namespace saccade
