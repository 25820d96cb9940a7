// Inputs that can't be read, until it is known whether they or their folders are missing. Pure: no clock, no files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace saccade {

// Note [Held inputs]
// A machine without the inputs' mount finds no input, and must not write its share off. An input that is missing or may
// not be read says nothing of itself as long as nothing else of its folder can be read, so it is held. Once another
// input of the folder was read that was begun after it failed, the folder is there, and the held one is tried again. An
// input that was begun before does not count: the mount may have gone since, and an open file stays readable.
//
// Item: a pointer or a number. Inputs are numbered from 1 as they are begun.
template <typename Item>
class Held {
 public:
  // So many inputs in a row could not be read: it is the machine's fault, or a whole folder is gone.
  static constexpr int kMostInARow = 20;

  // begun: the number of the last input that was begun when it failed.
  void hold(const std::string& folder, Item item, std::int64_t begun) {
    ++in_a_row_;
    folders_[folder].push_back({item, begun});
  }
  // Input `number`, of `folder`, could be read. Returns those to be tried again, which are no longer held.
  std::vector<Item> read(const std::string& folder, std::int64_t number) {
    in_a_row_ = 0;
    std::vector<Item> again;
    const auto found = folders_.find(folder);
    if (found == folders_.end()) return again;
    std::vector<Waiting> left;
    for (Waiting& waiting : found->second) {
      if (waiting.begun < number)
        again.push_back(waiting.item);
      else
        left.push_back(waiting);
    }
    found->second = std::move(left);
    if (found->second.empty()) folders_.erase(found);
    return again;
  }
  bool too_many_in_a_row() const { return in_a_row_ >= kMostInARow; }
  bool empty() const { return folders_.empty(); }
  std::size_t count() const {
    std::size_t all = 0;
    for (const auto& [folder, waiting] : folders_) all += waiting.size();
    return all;
  }
  std::vector<std::string> folders() const {
    std::vector<std::string> names;
    for (const auto& [folder, waiting] : folders_) names.push_back(folder);
    return names;
  }
  std::vector<Item> items() const {  // by folders
    std::vector<Item> all;
    for (const auto& [folder, waiting] : folders_) {
      for (const Waiting& one : waiting) all.push_back(one.item);
    }
    return all;
  }

 private:
  struct Waiting {
    Item item;
    std::int64_t begun;
  };
  std::map<std::string, std::vector<Waiting>> folders_;
  int in_a_row_ = 0;
};

}  // namespace saccade
