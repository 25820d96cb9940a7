# What pyproject.toml puts into the Python package: `cmake --install BUILD --component python` installs nothing else, and
# an install without a component leaves it out. A wheel holds no symbolic links, so the library has one plain name.
option(SACCADE_PYTHON "Install rules of the Python package's parts (component python)" ON)
if(SACCADE_PYTHON AND SACCADE_LIBRARY)
  install(FILES $<TARGET_FILE:libsaccade> DESTINATION pysaccade/lib RENAME libsaccade.so COMPONENT python EXCLUDE_FROM_ALL)
  install(PROGRAMS $<TARGET_FILE:saccade> DESTINATION pysaccade/bin COMPONENT python EXCLUDE_FROM_ALL)
endif()
