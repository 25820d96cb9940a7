// Views beside a dump's arrays: views/EMISSION-VIEW.png, and views.jsonl with a line for each.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "app/options/options.h"
#include "pipeline/run/session.h"

namespace saccade {

inline constexpr const char* kViewsFile = "views.jsonl";

// Takes an old dump's views out of its folder. Throws Error.
void remove_views(const std::string& directory);

// A line follows its picture, so every line that is there names a whole file. Throws Error naming the file.
class ViewsFiles {
 public:
  ViewsFiles(const std::string& directory, const ViewsChoice& choice);

  // The views of the frame that the session took last, for the emission of this number.
  void append(Session& session, std::int64_t number, const Emission& emission);
  std::int64_t count() const { return count_; }    // of pictures
  std::int64_t tokens() const { return tokens_; }  // of all of them

 private:
  std::string directory_;
  ViewsChoice choice_;
  std::ofstream lines_;
  std::int64_t count_ = 0, tokens_ = 0;
};

}  // namespace saccade
