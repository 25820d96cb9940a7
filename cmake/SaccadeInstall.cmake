# What a consumer of the installed library finds: targets, find_package(saccade), pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# saccade_outside_libraries(VARIABLE TARGET...): the libraries that are not ours and that these targets link.
function(saccade_outside_libraries variable)
  set(found)
  foreach(target ${ARGN})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    foreach(library ${libraries})
      if(library AND NOT library MATCHES "^saccade_")
        list(APPEND found ${library})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# How a consumer of the static library finds each of them: lines of the CMake package in `finds`, linker arguments in
# `libs`, both set in the caller's scope. Not as pkg-config's Requires.private: `pkg-config --static` would then ask for
# all that FFmpeg itself is made of, which is not there where FFmpeg is shared.
function(saccade_describe_outside)
  set(finds)
  set(libs)
  foreach(library ${ARGN})
    if(library STREQUAL "PkgConfig::ffmpeg")
      list(APPEND finds "saccade_find_modules(ffmpeg libavcodec libavformat libavutil libswscale)")
      list(APPEND libs ${ffmpeg_LDFLAGS})
    elseif(library STREQUAL "PkgConfig::hwy")
      list(APPEND finds "saccade_find_modules(hwy libhwy)")
      list(APPEND libs ${hwy_LDFLAGS})
    elseif(library MATCHES "^(fmt|spdlog)::")
      list(APPEND finds "find_dependency(${CMAKE_MATCH_1})")
      list(APPEND libs -l${CMAKE_MATCH_1})
    elseif(library STREQUAL "Threads::Threads")
      list(APPEND finds "find_dependency(Threads)")
      list(APPEND libs -lpthread)
    elseif(library STREQUAL "OpenGL::EGL")
      list(APPEND finds "find_dependency(OpenGL COMPONENTS EGL)")
      list(APPEND libs -lEGL)
    elseif(library STREQUAL "CUDA::cudart_static")
      list(APPEND finds "find_dependency(CUDAToolkit)")
      list(APPEND libs -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -lpthread)
    else()
      message(FATAL_ERROR "saccade: cmake/SaccadeInstall.cmake must say how a consumer finds ${library}")
    endif()
  endforeach()
  list(JOIN finds "\n  " finds)
  list(JOIN libs " " libs)
  set(finds "${finds}" PARENT_SCOPE)
  set(libs "${libs}" PARENT_SCOPE)
endfunction()

# saccade_install_library(SHARED STATIC OUTSIDE LIBRARY...): both libraries, the headers, and what finds them.
function(saccade_install_library shared static)
  cmake_parse_arguments(arg "" "" "OUTSIDE" ${ARGN})
  saccade_describe_outside(${arg_OUTSIDE})
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/saccade)
  install(TARGETS ${shared} EXPORT saccade_shared)
  install(TARGETS ${static} EXPORT saccade_static)
  install(FILES ${PROJECT_SOURCE_DIR}/include/saccade/saccade.h ${PROJECT_SOURCE_DIR}/include/saccade/saccade.hpp
                ${PROJECT_SOURCE_DIR}/include/saccade/tensor.h ${PROJECT_SOURCE_DIR}/include/saccade/picture.h ${PROJECT_SOURCE_DIR}/include/saccade/views.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/saccade)
  foreach(kind shared static)
    install(EXPORT saccade_${kind} NAMESPACE saccade:: FILE saccade-${kind}.cmake DESTINATION ${package_dir})
  endforeach()

  set(generated ${PROJECT_BINARY_DIR}/package)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/saccade-config.cmake.in ${generated}/saccade-config.cmake
                                INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${generated}/saccade-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${generated}/saccade-config.cmake ${generated}/saccade-config-version.cmake DESTINATION ${package_dir})

  # The prefix as seen from the .pc file: an installed tree can be moved.
  set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH up ${pc_dir} ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/+$" "" up "${up}")
  foreach(kind LIB INCLUDE)  # either may be absolute, and then lies there whatever the prefix
    cmake_path(APPEND pc_${kind} "\${prefix}" ${CMAKE_INSTALL_${kind}DIR})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/saccade.pc.in ${generated}/saccade.pc @ONLY)
  install(FILES ${generated}/saccade.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
