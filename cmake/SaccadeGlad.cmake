# OpenGL: EGL for contexts, and a loader that Debian's glad generates into the build tree, offline.
# SACCADE_GL switches itself off, with a line that says so, where one of them is missing.
option(SACCADE_GL "Build the OpenGL backend (needs EGL and glad)" ON)

function(saccade_find_gl result)
  set(${result} "" PARENT_SCOPE)
  find_package(OpenGL QUIET COMPONENTS EGL)
  find_program(SACCADE_GLAD glad PATHS /usr/bin DOC "glad 2, the loader generator (Debian: python3-glad)")
  if(NOT TARGET OpenGL::EGL)
    set(${result} "EGL not found: install libegl-dev" PARENT_SCOPE)
  elseif(NOT SACCADE_GLAD)
    set(${result} "glad not found: install python3-glad" PARENT_SCOPE)
  endif()
endfunction()

if(SACCADE_GL)
  saccade_find_gl(saccade_gl_missing)
  if(saccade_gl_missing)
    message(STATUS "saccade: building without OpenGL (${saccade_gl_missing})")
    set(SACCADE_GL OFF)
  endif()
endif()

if(SACCADE_GL)
  find_package(OpenGL QUIET COMPONENTS EGL)
  set(saccade_glad_dir ${PROJECT_BINARY_DIR}/glad)
  add_custom_command(
    OUTPUT ${saccade_glad_dir}/src/gl.c ${saccade_glad_dir}/include/glad/gl.h
    COMMAND ${SACCADE_GLAD} --reproducible --quiet --api gl:core=4.5 --extensions "" --out-path ${saccade_glad_dir} c
    COMMENT "Generating the OpenGL 4.5 loader"
    VERBATIM)
  enable_language(C)
  add_library(saccade_glad STATIC ${saccade_glad_dir}/src/gl.c ${saccade_glad_dir}/include/glad/gl.h)
  target_include_directories(saccade_glad SYSTEM PUBLIC ${saccade_glad_dir}/include)
  target_compile_options(saccade_glad PRIVATE -w)
  message(STATUS "saccade: OpenGL 4.5 through EGL, loader by ${SACCADE_GLAD}")
endif()
