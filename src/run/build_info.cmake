# Run at each build (cmake -P): asks git about the sources and writes build_info.hpp, if anything in it has changed.
set(BUILD_COMMIT "unknown")
set(BUILD_CHANGED "unknown")
set(BUILD_DATE "unknown")
set(epoch "$ENV{SOURCE_DATE_EPOCH}")

find_program(GIT git)
if(GIT AND EXISTS "${SOURCE_FOLDER}/.git")  # not that of a repository around an unpacked archive
  execute_process(COMMAND "${GIT}" -C "${SOURCE_FOLDER}" log -1 "--format=%h %ct"
    OUTPUT_VARIABLE head RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND head MATCHES "^([0-9a-f]+) ([0-9]+)$")
    set(BUILD_COMMIT "${CMAKE_MATCH_1}")
    set(commit_epoch "${CMAKE_MATCH_2}")  # the next match overwrites it
    if(NOT epoch MATCHES "^[0-9]+$")
      set(epoch "${commit_epoch}")
    endif()
    execute_process(COMMAND "${GIT}" -C "${SOURCE_FOLDER}" --no-optional-locks status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      if(changes STREQUAL "")
        set(BUILD_CHANGED "no")
      else()
        set(BUILD_CHANGED "yes")
      endif()
    endif()
  endif()
endif()
if(epoch MATCHES "^[0-9]+$")
  set(ENV{SOURCE_DATE_EPOCH} "${epoch}")  # string(TIMESTAMP) obeys it
  string(TIMESTAMP BUILD_DATE "%Y-%m-%dT%H:%M:%SZ" UTC)
endif()

foreach(name BUILD_VERSION BUILD_TYPE BUILD_COMPILER BUILD_FLAGS BUILD_MPI BUILD_HDF5 BUILD_KOKKOS BUILD_BACKEND)
  string(STRIP "${${name}}" ${name})
  string(REPLACE "\\" "\\\\" ${name} "${${name}}")
  string(REPLACE "\"" "\\\"" ${name} "${${name}}")
endforeach()
configure_file("${TEMPLATE}" "${HEADER}" @ONLY)
