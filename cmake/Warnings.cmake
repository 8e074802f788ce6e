# Warnings, and the floating-point rules that the promise of equal bits rests on (src/README.md, "where bits break").
add_library(maxplus_options INTERFACE)
target_compile_options(maxplus_options INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion -Wno-float-conversion
  -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms inside std::string and std::vector when it optimises; which of them come depends on the level.
  target_compile_options(maxplus_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread)
endif()
if(MAXPLUS_WERROR)
  target_compile_options(maxplus_options INTERFACE -Werror)
endif()
