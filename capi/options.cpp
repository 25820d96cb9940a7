#include "capi/options.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "capi/error.h"
#include "capi/structs.h"
#include "pipeline/backend/backend.h"
#include "pipeline/backend/caller_context.h"

using namespace saccade;
using namespace saccade::capi;

namespace {

static_assert(static_cast<int>(ValueKind::kFlag) == SACCADE_VALUE_FLAG);
static_assert(static_cast<int>(ValueKind::kWordOrInteger) == SACCADE_VALUE_WORD_OR_INTEGER);
static_assert(static_cast<int>(LogLevel::kDebug) == SACCADE_LOG_DEBUG);
static_assert(static_cast<int>(LogLevel::kError) == SACCADE_LOG_ERROR);

// A row's texts as C strings.
struct OptionTexts {
  std::string name, group, help, more, metavar, default_text, instead;
};

std::vector<OptionTexts> make_option_texts() {
  const StreamOptions defaults;
  std::vector<OptionTexts> texts;
  for (const StreamOption& row : stream_options()) {
    const OptionSpec& spec = row.spec;
    texts.push_back({std::string(spec.name), std::string(spec.group), with_names(spec.help, ""),
                     with_names(spec.more, ""), std::string(spec.metavar), row.binding.print(defaults).value_or(""),
                     with_names(spec.instead, "")});
  }
  return texts;
}

// Made once, on the first call.
const std::vector<OptionTexts>& option_texts() {
  static const std::vector<OptionTexts> texts = make_option_texts();
  return texts;
}

}  // namespace

saccade_options* saccade_options_new(void) {
  saccade_options* options = nullptr;
  static_cast<void>(guarded([&] {
    options = new saccade_options;
    return SACCADE_OK;
  }));
  return options;
}

void saccade_options_free(saccade_options* options) { delete options; }

saccade_status saccade_options_set(saccade_options* options, const char* name, const char* text) {
  constexpr const char* kFunction = "saccade_options_set";
  return guarded([&] {
    require(options != nullptr, kFunction, "options is NULL");
    require(name != nullptr, kFunction, "name is NULL");
    require(text != nullptr, kFunction, "text is NULL");
    set_option(options->settings, name, text);
    options->given.emplace(name);
    return SACCADE_OK;
  });
}

saccade_status saccade_options_get(saccade_options* options, const char* name, const char** text) {
  constexpr const char* kFunction = "saccade_options_get";
  return guarded([&] {
    require(text != nullptr, kFunction, "text is NULL");
    *text = "";
    require(options != nullptr, kFunction, "options is NULL");
    require(name != nullptr, kFunction, "name is NULL");
    options->text = get_option(options->settings, name).value_or("");
    *text = options->text.c_str();
    return SACCADE_OK;
  });
}

saccade_status saccade_options_set_log(saccade_options* options, saccade_log_level least, saccade_log_function function,
                                       void* user) {
  constexpr const char* kFunction = "saccade_options_set_log";
  return guarded([&] {
    require(options != nullptr, kFunction, "options is NULL");
    require(least >= SACCADE_LOG_DEBUG && least <= SACCADE_LOG_ERROR, kFunction, "there is no such level");
    if (function == nullptr) {
      options->log = Log();
      return SACCADE_OK;
    }
    const auto write = [function, user](LogLevel level, std::string_view line) {
      function(user, static_cast<saccade_log_level>(level), std::string(line).c_str());
    };
    options->log = Log(write, static_cast<LogLevel>(least));
    return SACCADE_OK;
  });
}

std::size_t saccade_option_count(void) { return stream_options().size(); }

saccade_status saccade_option_describe(std::size_t index, saccade_option* out) {
  constexpr const char* kFunction = "saccade_option_describe";
  return guarded([&] {
    require(index < saccade_option_count(), kFunction, "index is not below saccade_option_count()");
    const OptionSpec& spec = stream_options()[index].spec;
    const OptionTexts& texts = option_texts()[index];
    saccade_option option{};
    option.name = texts.name.c_str();
    option.group = texts.group.c_str();
    option.help = texts.help.c_str();
    option.more = texts.more.c_str();
    option.metavar = texts.metavar.c_str();
    option.default_text = texts.default_text.c_str();
    option.choices = spec.choices.c_str();
    option.lowest = spec.lo;
    option.highest = spec.hi;
    option.kind = static_cast<std::int32_t>(spec.kind);
    option.shapes_result = spec.shapes_result ? 1 : 0;
    option.instead = texts.instead.c_str();
    fill(kFunction, out, option, {offsetof(saccade_option, instead)});
    return SACCADE_OK;
  });
}

saccade_status saccade_backend_check(const char* backend, int device) {
  constexpr const char* kFunction = "saccade_backend_check";
  return guarded([&] {
    require(backend != nullptr, kFunction, "backend is NULL");
    const CallerContext keep(!suits_any_thread(backend));
    std::string reason;
    static_cast<void>(choose_backend(backend, reason, device));
    return SACCADE_OK;
  });
}
