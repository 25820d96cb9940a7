# Every tests/**/*_test.py as one test, run by an interpreter that has NumPy. The program under test: $SACCADE_BIN.
set(saccade_python)
find_program(saccade_system_python python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_package(Python3 COMPONENTS Interpreter)
foreach(candidate ${saccade_system_python} ${Python3_EXECUTABLE})
  if(NOT saccade_python)
    execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(saccade_python ${candidate})
    endif()
  endif()
endforeach()
if(NOT saccade_python)
  message(WARNING "saccade: no Python with NumPy (Debian: python3-numpy); the tests that read dumps are left out")
  # In their place one that is skipped, or fails where SACCADE_REQUIRE has numpy.
  add_test(NAME python.numpy COMMAND ${CMAKE_COMMAND} "-DTOOL_NAME=a Python with NumPy" -DREQUIRE=numpy
    -P ${CMAKE_CURRENT_SOURCE_DIR}/kernels/shared/compile.cmake)
  set_tests_properties(python.numpy PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED" LABELS python)
  return()
endif()

math(EXPR saccade_python_timeout "2 * ${SACCADE_TEST_TIMEOUT}")
file(GLOB_RECURSE python_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.py)
foreach(path ${python_tests})
  cmake_path(GET path STEM stem)
  cmake_path(GET path PARENT_PATH folder)
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "_test$" "" stem ${stem})
  string(REPLACE "/" "." name "python.${folder}.${stem}")
  add_test(NAME ${name} COMMAND ${saccade_python} ${CMAKE_CURRENT_SOURCE_DIR}/support/run_unittest.py ${path})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "SACCADE_BIN=$<TARGET_FILE:saccade>;SACCADE_SOURCE_DIR=${PROJECT_SOURCE_DIR};SACCADE_BUILD_DIR=${PROJECT_BINARY_DIR};SACCADE_SANITIZE=$<JOIN:${SACCADE_SANITIZE},+>"
    LABELS "python;${folder}" SKIP_RETURN_CODE 77 TIMEOUT ${saccade_python_timeout})
endforeach()
