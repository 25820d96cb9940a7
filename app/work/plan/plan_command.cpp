// saccade plan: freezes what is to be done.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/options/options.h"
#include "app/work/plan/make_plan.h"

namespace saccade {

int run_plan(const Options& options) {
  const std::string& store = options.dump.output;
  const PlanOutcome outcome = make_plan(options, store);
  const Json& facts = outcome.plan.facts();
  if (options.json) {
    Json result = facts;
    result["path"] = store;
    result["made"] = outcome.made;
    fmt::print("{}\n", json_text(result, -1));
    return static_cast<int>(ExitCode::kOk);
  }
  const auto count = [&](const char* name) { return facts.at(name).get<std::int64_t>(); };
  fmt::print("{}: {}{} items in {} units from {} rows ({} duplicates), {:.1f} hours of video, backend {}\n", store,
             outcome.made ? "" : "already planned: ", count("items"), count("units"),
             facts.at("manifest").at("rows").get<std::int64_t>(), count("duplicates"),
             facts.at("media_s").get<double>() / 3600, facts.at("backend").get<std::string>());
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace saccade
