#include "pipeline/source/decode/check_names.h"

#include "pipeline/error.h"
#include "pipeline/source/convert/filter_graph.h"
#include "pipeline/source/demux/options.h"

namespace saccade {

void check_names(const SourceConfig& config) {
  check_hints(config.input);
  try {
    static_cast<void>(forced_format(config, InputLocation{}));
    if (!config.filters.empty()) check_filters(config.filters);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnavailable) throw;  // where a library is missing here, others may have it
  }
}

}  // namespace saccade
