// saccade plan: freezes what is to be done.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/counted.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/work/plan/make_plan.h"

namespace saccade {

int run_plan(const Options& options) {
  const auto place = open_store(options.dump.output);
  const std::string& store = place->place();
  const PlanOutcome outcome = make_plan(options, *place);
  const Json& facts = outcome.plan.facts();
  if (options.json) {
    Json result = facts;
    result["path"] = store;
    result["made"] = outcome.made;
    result["uncut"] = outcome.uncut;
    fmt::print("{}\n", json_text(result, -1));
    return static_cast<int>(ExitCode::kOk);
  }
  const auto of = [](const Json& counts, const char* name, const char* what) {
    return counted(counts.at(name).get<std::int64_t>(), what);
  };
  const std::string uncut = outcome.uncut == 0
                                ? ""
                                : fmt::format("; {} of unknown length stay{} whole", counted(outcome.uncut, "row"),
                                              outcome.uncut == 1 ? "s" : "");
  fmt::print("{}: {}{} in {} from {} ({}), {:.1f} hours of video, backend {}{}\n", store,
             outcome.made ? "" : "already planned: ", of(facts, "items", "item"), of(facts, "units", "unit"),
             of(facts.at("manifest"), "rows", "row"), of(facts, "duplicates", "duplicate"),
             facts.at("media_s").get<double>() / 3600, facts.at("backend").get<std::string>(), uncut);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace saccade
