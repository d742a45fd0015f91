# Formatter, linters and the layer check as targets; contrib/check runs them all.
file(GLOB_RECURSE gillnet_c_files CONFIGURE_DEPENDS
     core/*.[ch] milter/*.[ch] tests/*.[ch])
add_custom_target(format COMMAND clang-format -i ${gillnet_c_files}
                  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" VERBATIM)
add_custom_target(format-check COMMAND clang-format --dry-run -Werror ${gillnet_c_files}
                  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" VERBATIM)
add_custom_target(layers COMMAND python3 tests/lint/check_layers.py
                  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" VERBATIM)
add_custom_target(cppcheck
  COMMAND cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr
          --library=posix --error-exitcode=1 --suppress=missingIncludeSystem -I . -j 2 core milter
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" VERBATIM)
add_custom_target(tidy COMMAND tests/lint/tidy "${CMAKE_BINARY_DIR}"
                  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" VERBATIM)
