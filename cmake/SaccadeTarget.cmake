# saccade_sources(VARIABLE FOLDER...): the C++ and CUDA sources below these folders that this build has a use for. Folders
# named cuda, gl and interop, and files that begin so, go with their backends, files that begin with view_ with the viewer,
# folders named web and files that begin with web_ with its server; main/ holds programs' own files.
function(saccade_sources variable)
  set(sources)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${found})
    if(SACCADE_CUDA)
      file(GLOB_RECURSE found CONFIGURE_DEPENDS ${folder}/*.cu)
      list(APPEND sources ${found})
    endif()
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/(main|nvcuvid)/[^/]*$")
  if(NOT SACCADE_CUDA)
    list(FILTER sources EXCLUDE REGEX "/cuda/[^/]*$|/interop/[^/]*$|/cuda_[^/]*$")
  endif()
  if(NOT SACCADE_GL)
    list(FILTER sources EXCLUDE REGEX "/gl/[^/]*$|/interop/[^/]*$|/(cuda_)?gl_[^/]*$")
  endif()
  if(NOT SACCADE_VIEW)
    list(FILTER sources EXCLUDE REGEX "/view_[^/]*$")
  endif()
  if(NOT SACCADE_WEB)
    list(FILTER sources EXCLUDE REGEX "/web/|/web_[^/]*$")
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# saccade_exact_arithmetic(FILE...): the results of these files are promised to the bit, equal in plain, SIMD and GPU code, so
# the compiler may not fuse a*b+c into one rounding. Call it in the folder whose target has the files.
function(saccade_exact_arithmetic)
  foreach(file ${ARGN})
    if(file MATCHES "\\.cu$")
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS --fmad=false)
    else()
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off)
    endif()
  endforeach()
endfunction()

function(saccade_compile_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  if(SACCADE_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  endif()
  target_compile_definitions(${target} PRIVATE $<$<BOOL:${SACCADE_GL}>:SACCADE_GL=1>)
endfunction()

# saccade_library(NAME DEPENDS LIB...): the sources of this folder and its subfolders as one static library. Includes are
# written from the project's root ("kernels/damage.h").
function(saccade_library target)
  cmake_parse_arguments(arg "" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  saccade_sources(sources ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT sources)  # gpu/ with neither backend
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/${target}_empty.cpp)
    file(WRITE ${sources} "// No source of this folder is built.\n")
  endif()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
  saccade_compile_options(${target})
endfunction()

# saccade_test(NAME FOLDERS FOLDER... DEPENDS LIB... [SOURCES FILE...] [ENVIRONMENT NAME=VALUE]): the *.cpp (and *.cu) of
# these folders of tests/, and the files named, as one GoogleTest program.
function(saccade_test target)
  cmake_parse_arguments(arg "" "" "FOLDERS;DEPENDS;SOURCES;ENVIRONMENT" ${ARGN})
  set(sources)
  foreach(folder ${arg_FOLDERS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
    if(SACCADE_CUDA)
      file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cu)
      list(APPEND sources ${found})
    endif()
  endforeach()
  list(APPEND sources ${arg_SOURCES})
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${arg_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  saccade_compile_options(${target})
  # Parameters by their short names: their values make lines of hundreds of columns.
  gtest_discover_tests(${target} NO_PRETTY_VALUES NO_PRETTY_TYPES DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${SACCADE_TEST_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
