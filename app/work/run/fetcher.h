// Fetches inputs in buckets to files of this machine, before workers open them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/work/run/item.h"
#include "app/work/store/helper.h"

namespace saccade {

struct Fetched {
  OpenItem* item;
  ItemEnd end;  // kDone: item->item.local is there
};

// One thread, except that the helper's answers come on another one.
class Fetcher {
 public:
  // wake: is called on another thread when take() has something.
  Fetcher(std::string folder, std::function<void()> wake);
  ~Fetcher();

  // Starts the helper with the first one; throws UnavailableError where it can't.
  void begin(OpenItem& item);
  // Throws Error of kOutput if the files have no room here: the videos are not at fault.
  std::vector<Fetched> take();
  int in_flight() const { return in_flight_; }
  static void remove(OpenItem& item);  // its file, once nothing opens it any more

 private:
  const std::string folder_;
  const std::function<void()> wake_;
  std::int64_t files_ = 0;
  int in_flight_ = 0;
  std::mutex mutex_;
  std::vector<std::pair<OpenItem*, HelperAnswer>> answers_;
  std::unique_ptr<Helper> helper_;  // last: no answer comes after it
};

}  // namespace saccade
