# Options of the build. CUDA switches itself off, with a line that says so, where there is no nvcc of version 12 or later.
include(CheckLanguage)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# The version before CMake tries the compiler: nvcc 11, which Debian 12 packages, takes no C++20.
check_language(CUDA)
set(saccade_nvcc_version 0)
set(saccade_why_no_cuda "no nvcc")
if(CMAKE_CUDA_COMPILER)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE saccade_nvcc ERROR_QUIET)
  if(saccade_nvcc MATCHES "release ([0-9]+\\.[0-9]+)")
    set(saccade_nvcc_version ${CMAKE_MATCH_1})
  endif()
  set(saccade_why_no_cuda "nvcc ${saccade_nvcc_version} is too old: 12.0 and later take C++20")
endif()
set(saccade_cuda_default OFF)
if(saccade_nvcc_version VERSION_GREATER_EQUAL 12)
  set(saccade_cuda_default ON)
  set(saccade_why_no_cuda "SACCADE_CUDA=OFF")
endif()

option(SACCADE_CUDA "Build the CUDA backend (needs nvcc 12 or later)" ${saccade_cuda_default})
option(SACCADE_LIBRARY "Build libsaccade, the C interface, shared and static" ON)
option(SACCADE_TESTS "Build the tests" ON)
option(SACCADE_BENCH "Build the benchmarks" ON)
option(SACCADE_WERROR "Treat warnings in our code as errors" OFF)
set(SACCADE_SANITIZE "" CACHE STRING "Sanitizers: address;undefined or thread")

if(SACCADE_CUDA)
  # Machine code for the GPU of this machine alone. Without one: Ampere and Hopper, and PTX of Turing, from which the
  # driver compiles for every other GPU when the program first starts there.
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE saccade_capabilities RESULT_VARIABLE saccade_no_gpu ERROR_QUIET)
    set(saccade_architectures "75;80-real;90-real")
    if(saccade_no_gpu EQUAL 0 AND saccade_capabilities MATCHES "^([0-9]+)\\.([0-9]+)")
      set(saccade_architectures "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    endif()
    set(CMAKE_CUDA_ARCHITECTURES "${saccade_architectures}" CACHE STRING "CUDA architectures")
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  enable_language(CUDA)
  # CMake 3.25 (Debian 12) does not know that nvcc 12 and later take C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  message(STATUS "saccade: CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "saccade: building without CUDA: ${saccade_why_no_cuda}")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Nothing leaves an object but what says so (SACCADE_API): a program that links libsaccade.a into a library of its own
# does not export ours.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_program(SACCADE_CCACHE ccache)
if(SACCADE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SACCADE_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${SACCADE_CCACHE})
endif()

option(SACCADE_FUZZ "libFuzzer programs of our parsers, build/.../tests/fuzz_* (needs clang)" OFF)
if(SACCADE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "saccade: SACCADE_FUZZ needs clang: add -DCMAKE_CXX_COMPILER=clang++")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined)
  add_link_options(-fsanitize=address,undefined)
endif()

if(SACCADE_SANITIZE)
  list(JOIN SACCADE_SANITIZE "," saccade_sanitizers)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${saccade_sanitizers}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  add_link_options(-fsanitize=${saccade_sanitizers})
endif()

# Seconds until a test counts as hanging; Python's, of many cases each, have twice as long.
set(SACCADE_TEST_TIMEOUT 300)
if(SACCADE_SANITIZE)
  set(SACCADE_TEST_TIMEOUT 1200)
endif()
