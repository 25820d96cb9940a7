// Reads other inputs of a folder whose videos are held back. If one can be read, the folder itself can be read.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "app/work/judge/held.h"
#include "app/work/run/item.h"

namespace saccade {

class Probes {
 public:
  // Draws up to 20 of each folder, from the whole plan. False: there are none.
  bool draw(const Plan& plan, const Held<OpenItem*>& held);
  bool drawn() const { return drawn_; }  // and none could be read so far
  void forget() { drawn_ = false; }      // what is held has changed: draw again
  bool all_ended() const { return probes_.empty(); }
  void end(const OpenItem& probe);

  std::deque<OpenItem*> waiting;  // that no worker has

 private:
  std::list<std::unique_ptr<OpenItem>> probes_;
  bool drawn_ = false;
};

// "no video in /in can be read here: 3 videos held back, ...", with what to do. by_dump: the command has no --gone.
std::string held_line(const Held<OpenItem*>& held, const std::string& store, bool by_dump);

}  // namespace saccade
