# How every dependency is found. Debian 12 names are in jobscripts/setup.sh.
set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings are gone from newer MPI libraries
find_package(MPI REQUIRED COMPONENTS C CXX)
find_package(Threads REQUIRED)

set(HDF5_PREFER_PARALLEL ON)  # with a serial one installed beside it, CMake would take that
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "HDF5 was found, but without MPI (${HDF5_C_INCLUDE_DIRS})\n"
    "  expected: a parallel HDF5\n  try: install libhdf5-openmpi-dev, or load your site's parallel HDF5 module")
endif()

find_package(Kokkos REQUIRED)
# Debian's package of Trilinos' Kokkos names an include directory that does not exist.
get_target_property(kokkos_includes Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
foreach(directory IN LISTS kokkos_includes)
  if(NOT directory MATCHES "^\\$<" AND NOT EXISTS "${directory}")
    set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
  endif()
endforeach()

find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(GMP REQUIRED IMPORTED_TARGET gmpxx)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
