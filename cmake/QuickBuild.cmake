# MAXPLUS_QUICK, for builds from nothing, as of jobs and tests: half the time. Off for developers, whose builds then find
# the source that forgot to include what it uses, and compile little after a change.
#
# Headers of libraries that most sources include are compiled once for each set of options: two in src/, one in tests/.
# Sources are compiled in bundles, so that the templates of nlohmann/json.hpp are made once a bundle, not once a file: the
# unnamed namespaces of a folder share their names.
set(MAXPLUS_PRECOMPILED_sources <algorithm> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span>
  <string> <string_view> <vector> <fmt/format.h> <nlohmann/json.hpp>)
set(MAXPLUS_PRECOMPILED_control ${MAXPLUS_PRECOMPILED_sources})
set(MAXPLUS_PRECOMPILED_tests ${MAXPLUS_PRECOMPILED_sources} <gtest/gtest.h>)

# kind: sources | control | tests. The first target of a kind compiles the headers, the others take them from it.
function(maxplus_quick_build target kind)
  if(NOT MAXPLUS_QUICK)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess  # or ccache would not see what is in the headers
      -Wno-subobject-linkage)  # in a bundle it takes a source's own types for a header's
  endif()
  get_property(first GLOBAL PROPERTY maxplus_precompiled_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${MAXPLUS_PRECOMPILED_${kind}})
    set_property(GLOBAL PROPERTY maxplus_precompiled_${kind} ${target})
  endif()
endfunction()
