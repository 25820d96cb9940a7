#include <saccade/saccade.h>

#include <string_view>

#define SACCADE_TEXT_OF(x) #x
#define SACCADE_TEXT(x) SACCADE_TEXT_OF(x)
#define SACCADE_HEADER_VERSION        \
  SACCADE_TEXT(SACCADE_VERSION_MAJOR) \
  "." SACCADE_TEXT(SACCADE_VERSION_MINOR) "." SACCADE_TEXT(SACCADE_VERSION_PATCH)

static_assert(std::string_view(SACCADE_HEADER_VERSION) == SACCADE_PROJECT_VERSION,
              "saccade.h and CMake's project() must state the same version");

int saccade_version(void) { return SACCADE_VERSION; }
const char* saccade_version_text(void) { return SACCADE_HEADER_VERSION; }
