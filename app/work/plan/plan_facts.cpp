#include "app/work/plan/plan_facts.h"

#include <fmt/format.h>

#include <utility>

#include "app/options/origins.h"
#include "app/version.h"
#include "app/work/plan/plan.h"
#include "pipeline/options/resolve.h"

namespace saccade {
namespace {

// The options with nothing left to chance: what a worker elsewhere must not choose by itself.
OptionTexts pinned(const Options& options) {
  StreamOptions elsewhere = options;
  name_files_wholly(elsewhere);
  Options resolved = options;
  check_options(resolved);
  resolved.hwdec = HwDecode::kNo;  // what decodes here is of no matter
  resolved.require_hwdec = false;
  const bool named = options.backend != kAutoBackend;
  if (named) {
    check_named_backend(resolved);
  } else {
    resolve(resolved, StreamUse::kRun);
  }
  const std::string backend = named ? options.backend : name(resolved.pipeline.backend);
  const BackendTraits* traits = traits_of(backend);
  const HwDecode decoder = wanted_decoder(options, traits != nullptr ? traits->decoder : HwDecode::kNo);
  OptionTexts texts;
  for (auto [key, text] : options.in_force) {
    if (key == "backend") text = backend;
    if (key == "hwdec" && text == "auto") text = name(decoder);
    const StreamOption* row = find_stream_option(key);
    if (row != nullptr && row->binding.print(elsewhere) != row->binding.print(options))
      text = *row->binding.print(elsewhere);
    texts.emplace_back(key, text);
  }
  return texts;
}

OptionTexts settings_of(const Options& options) {
  const StreamOptions fresh;
  OptionTexts texts;
  for (const StreamOption& row : stream_options()) {
    if (row.spec.shapes_result || row.spec.scope == OptionScope::kProfiling) continue;
    const auto text = row.binding.print(options);
    if (text && text != row.binding.print(fresh)) texts.emplace_back(row.spec.name, *text);
  }
  return texts;
}

}  // namespace

Json plan_facts(const Options& options, const Manifest& manifest) {
  const OptionTexts texts = pinned(options);
  Json facts = {{"format", "saccade-plan"}, {"schema", 1}, {"saccade", version()}, {"hash", ""}};
  facts["manifest"] = {
      {"name", manifest.path()}, {"sha256", manifest.sha256()}, {"bytes", manifest.bytes()}, {"rows", 0}};
  facts["options"] = json_of(texts);
  facts["backend"] = facts["options"].value("backend", "cpu");
  facts["settings"] = json_of(settings_of(options));
  facts["segment_s"] = options.plan.segment_s ? Json(*options.plan.segment_s) : Json(nullptr);
  facts["unit_s"] = options.plan.unit_s;
  facts["unit_bytes"] = options.plan.unit_bytes;
  return facts;
}

std::string plan_difference(const Json& there, const Json& here) {
  if (there.at("saccade") != here.at("saccade")) {
    return fmt::format("saccade {} there, {} here", json_text(there.at("saccade"), -1),
                       json_text(here.at("saccade"), -1));
  }
  if (there.at("manifest").at("sha256") != here.at("manifest").at("sha256")) {
    return fmt::format("manifest {} of other contents", there.at("manifest").at("name").get<std::string>());
  }
  for (const char* group : {"options", "settings"}) {
    for (const auto* side : {&there, &here}) {
      for (const auto& item : side->at(group).items()) {
        const Json a = there.at(group).value(item.key(), Json("unset")),
                   b = here.at(group).value(item.key(), Json("unset"));
        if (a != b)
          return fmt::format("{} {} there, {} here", flag_of(item.key()), a.get<std::string>(), b.get<std::string>());
      }
    }
  }
  const std::pair<const char*, const char*> sizes[] = {
      {"segment_s", "segment"}, {"unit_s", "unit-seconds"}, {"unit_bytes", "unit-bytes"}};
  for (const auto& [member, option] : sizes) {
    if (there.at(member) != here.at(member)) {
      return fmt::format("{} {} there, {} here", flag_of(option), json_text(there.at(member), -1),
                         json_text(here.at(member), -1));
    }
  }
  return {};
}

}  // namespace saccade
