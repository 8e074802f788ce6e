# Warnings, and the floating-point rules that the promise of equal bits rests on (src/README.md, "where bits break").
add_library(maxplus_options INTERFACE)
target_compile_options(maxplus_options INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion -Wno-float-conversion
  -ffp-contract=off -fno-math-errno)
if(MAXPLUS_WERROR)
  target_compile_options(maxplus_options INTERFACE -Werror)
endif()
