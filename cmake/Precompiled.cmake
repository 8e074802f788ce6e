# Headers of libraries that most sources include, compiled once for each set of options: two in src/, one in tests/.
#
# Off by default, so that a developer's build finds the source that forgot to include what it uses.
set(MAXPLUS_PRECOMPILED_sources <algorithm> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span>
  <string> <string_view> <vector> <fmt/format.h> <nlohmann/json.hpp>)
set(MAXPLUS_PRECOMPILED_control ${MAXPLUS_PRECOMPILED_sources})
set(MAXPLUS_PRECOMPILED_tests ${MAXPLUS_PRECOMPILED_sources} <gtest/gtest.h>)

# kind: sources | control | tests. The first target of a kind compiles the headers, the others take them from it.
function(maxplus_precompile target kind)
  if(NOT MAXPLUS_PRECOMPILE)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # or ccache would not see what is in the headers
  endif()
  get_property(first GLOBAL PROPERTY maxplus_precompiled_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${MAXPLUS_PRECOMPILED_${kind}})
    set_property(GLOBAL PROPERTY maxplus_precompiled_${kind} ${target})
  endif()
endfunction()
