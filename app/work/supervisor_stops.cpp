// When the work stops because something is wrong with all of it.
#include <fmt/format.h>

#include <fstream>

#include "app/exit_code.h"
#include "app/input_identity.h"
#include "app/work/markers.h"
#include "app/work/supervisor_state.h"

namespace saccade {

// Whether more is left than what is held, and than those that are about to end: else there is nothing to stop.
bool Supervisor::more_is_left(std::int64_t ending) const {
  return tally_.counts().pending > static_cast<std::int64_t>(held_.count()) + ending;
}

// How to go on where the videos are bad, and nothing else is.
std::string Supervisor::way_out() const {
  return fmt::format("`saccade work {} --max-bad 100` goes on", plan_.store());
}

// Note [Witnesses]
// A network or a device that breaks after many good videos has all that comes next given up, long before these are more
// than the share of all that may be. That many of the last ones were given up says little: bad videos stand together,
// as empty files do at the end of a plan. So where they are more than half, and more than the share that may be, the
// video that was done last, in this run or an earlier one, is tried again, up to its first frame, with as many tries as
// any other. Until it has answered no unit is committed of which a video was given up. It fails: the work stops. It
// doesn't: these are bad, and after as many more it is asked again.
void Supervisor::ask_witness() {
  if (witness_ || ended_.count() < ask_at_ || !ended_.most_of_late_bad() || !more_is_left()) return;
  if (!last_done_) last_done_ = done_before();
  ask_at_ = ended_.count() + ended_.late();
  if (!last_done_) return;
  witness_ = std::make_unique<Item>();
  witness_->item = *last_done_;
  waiting_.push_front(witness_.get());
}

void Supervisor::witness_answers(const std::optional<GivenUp>& why) {
  const std::string key = witness_->item.key;
  witness_.reset();
  ask_at_ = ended_.count() + ended_.late();
  if (why) {
    stop(static_cast<int>(ExitCode::kUnexpected),
         fmt::format("{} of the last {} videos were given up, and {}, which was done before, can't be done any more: "
                     "{}: are the inputs still there? Where it is the videos, {}",
                     ended_.late_bad(), ended_.late(), key, why->line, way_out()));
  }
  std::vector<Unit*> open;
  for (const auto& unit : open_) open.push_back(unit.get());
  for (Unit* unit : open) close_if_ended(*unit);
}

// A video that an earlier run has done; none: no file says which, or it can't be read again.
std::optional<WorkItem> Supervisor::done_before() const {
  const PlannedUnit* unit = done_unit_.empty() ? nullptr : plan_.find(done_unit_);
  if (unit == nullptr) return std::nullopt;
  const std::optional<Json> marker = sound_marker(plan_, store_, *unit);
  if (!marker || marker->at("index").is_null()) return std::nullopt;
  std::ifstream file(fmt::format("{}/{}", store_, marker->at("index").at("name").get<std::string>()));
  std::string line;
  std::getline(file, line);
  const Json first = Json::parse(line, nullptr, false);
  const std::string key = first.is_object() ? first.value("key", "") : "";
  for (WorkItem& item : plan_.items(*unit)) {
    if (item.key == key && can_be_read_again(item.path())) return std::move(item);
  }
  return std::nullopt;
}

void Supervisor::check_bad() {
  ask_witness();
  if (stop_ || !ended_.too_many_bad() || !more_is_left()) return;
  const bool dumps = options_.command == Command::kDump;  // which has no such option
  stop(static_cast<int>(ExitCode::kUnexpected),
       fmt::format(
           "{} of {} videos were given up, more than {}{:g} %: is the installation broken? Once it is mended, or "
           "where it is the videos, {}",
           ended_.bad(), ended_.count(), dumps ? "" : "--max-bad ", options_.work.max_bad_percent, way_out()));
  stop_->goes_on = false;  // what was given up stays
}

}  // namespace saccade
