# cmake -DTOOL=PATH -DTOOL_NAME=NAME -DREQUIRE=WORD -DARGUMENTS=LIST -P compile.cmake
# Runs a compiler that may be missing: without it the test is skipped, with the reason, unless the environment variable
# SACCADE_REQUIRE lists WORD; then it fails.
if(NOT TOOL)
  if(",$ENV{SACCADE_REQUIRE}," MATCHES ",${REQUIRE},")
    message(FATAL_ERROR "${TOOL_NAME} was not found when the build was configured, but SACCADE_REQUIRE asks for ${REQUIRE}")
  endif()
  message("SKIPPED: ${TOOL_NAME} was not found when the build was configured")
  return()
endif()
execute_process(COMMAND ${TOOL} ${ARGUMENTS} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${TOOL_NAME} refused the source (${result}):\n${output}")
endif()
