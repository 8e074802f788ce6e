# How tests are declared. Every start of MPI has a time limit, and the environment that many ranks on few cores need.
find_package(GTest REQUIRED)

set(MAXPLUS_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS=1)

set(MAXPLUS_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)  # of the tests' own sources: they compile longer than they run

# tests/<folder>/*_test.cpp as test_<folder>, linked to a layer, the backend and tests/reference.
function(maxplus_add_tests folder layer)
  set(directory "${CMAKE_SOURCE_DIR}/tests/${folder}")
  file(GLOB sources CONFIGURE_DEPENDS "${directory}/*_test.cpp")
  list(FILTER sources EXCLUDE REGEX "_mpi_test\\.cpp$")
  if(sources)
    add_executable(test_${folder} ${sources})
    target_compile_options(test_${folder} PRIVATE ${MAXPLUS_TEST_OPTIONS})
    maxplus_quick_build(test_${folder} tests)
    target_link_libraries(test_${folder} PRIVATE maxplus_testing maxplus_${layer} maxplus_bodies)
    add_test(NAME ${folder} COMMAND test_${folder} --gtest_brief=1)
    set_tests_properties(${folder} PROPERTIES TIMEOUT 300 ENVIRONMENT "${MAXPLUS_TEST_ENVIRONMENT}")
  endif()
  set(MAXPLUS_TEST_LAYER ${layer} PARENT_SCOPE)
  set(MAXPLUS_TEST_LAYER ${layer})
  if(EXISTS "${directory}/CMakeLists.txt")
    add_subdirectory("${directory}" "${CMAKE_BINARY_DIR}/tests/${folder}")
  endif()
endfunction()

# add_mpi_test(gradient_sync RANKS 1 2 3 4): tests/<folder>/gradient_sync_mpi_test.cpp, started on so many ranks.
function(add_mpi_test name)
  cmake_parse_arguments(arg "" "" "RANKS" ${ARGN})
  add_executable(test_${name}_mpi ${name}_mpi_test.cpp)
  target_compile_options(test_${name}_mpi PRIVATE ${MAXPLUS_TEST_OPTIONS})
  maxplus_quick_build(test_${name}_mpi tests)
  target_link_libraries(test_${name}_mpi PRIVATE maxplus_mpi_testing maxplus_${MAXPLUS_TEST_LAYER} maxplus_bodies)
  foreach(ranks IN LISTS arg_RANKS)
    add_test(NAME ${name}.ranks${ranks}
      COMMAND timeout -k 5 120 ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:test_${name}_mpi> --gtest_brief=1)
    set_tests_properties(${name}.ranks${ranks} PROPERTIES PROCESSORS 2 TIMEOUT 130
      ENVIRONMENT "${MAXPLUS_TEST_ENVIRONMENT}")
  endforeach()
endfunction()
