#include "app/dump/views/views_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "app/files/whole_file.h"
#include "app/json/json_file.h"
#include "app/media/png.h"
#include "pipeline/views/view.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "views";

void check(const std::error_code& error, const fs::path& path) {
  if (error) fail_to_write(path.string(), error.value());
}

Json line_of(const View& view, const std::string& file, std::int64_t number, const Emission& emission) {
  const FrameBox& box = view.box;
  return {{"emission", number},
          {"frame", emission.frame},
          {"pts_ns", emission.pts_ns},
          {"file", file},
          {"box", {box.x, box.y, box.x + box.width, box.y + box.height}},
          {"scale", 1.0 / (1 << view.level)},
          {"level", view.level},
          {"width", view.size.width},
          {"height", view.size.height},
          {"tokens", view.tokens},
          {"reason", name(view.reason)}};
}

}  // namespace

void remove_views(const std::string& directory) {
  std::error_code error;
  fs::remove(fs::path(directory) / kViewsFile, error);
  check(error, fs::path(directory) / kViewsFile);
  const fs::path folder = fs::path(directory) / kFolder;
  if (!fs::is_directory(folder, error)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".png") fs::remove(entry.path(), error);
    check(error, entry.path());
  }
  fs::remove(folder, error);  // stays where it holds something else
}

ViewsFiles::ViewsFiles(const std::string& directory, const ViewsChoice& choice)
    : directory_(directory), choice_(choice) {
  std::error_code error;
  fs::create_directories(fs::path(directory) / kFolder, error);
  check(error, fs::path(directory) / kFolder);
  lines_.open(fs::path(directory) / kViewsFile, std::ios::binary | std::ios::trunc);
  if (!lines_) fail_to_write(directory + "/" + kViewsFile, errno);
}

void ViewsFiles::append(Session& session, std::int64_t number, const Emission& emission) {
  const auto views = session.choose_views(choice_);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const View& view = views[i];
    const std::string file = fmt::format("{}/{:06}-{:02}.png", kFolder, number, i);
    RgbImage image(view.size.width, view.size.height);
    session.read_view(view, image.data);
    write_png(image, directory_ + "/" + file);
    lines_ << json_text(line_of(view, file, number, emission), -1) << '\n';
    ++count_;
    tokens_ += view.tokens;
  }
  lines_.flush();
  if (!lines_) fail_to_write(directory_ + "/" + kViewsFile, errno);
}

}  // namespace saccade
