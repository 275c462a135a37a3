# kvbench_library(NAME [COLD] SOURCES ... [DEPENDS ...]): one static library for each folder of the house.
# All of them share the warnings, the include root and the floating-point rules set here.
# COLD: its code is compiled more often than it matters how fast it runs (kvbench_compile_quickly).
function(kvbench_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  kvbench_compile_options(${name})
  if(ARG_COLD)
    kvbench_compile_quickly(${name})
  endif()
endfunction()

# Takes a third off what the sanitizer builds (RelWithDebInfo) take to compile: no optimisation, and none of the checks
# of pointers that the address sanitizer makes anyway (null) or that code without kernels hardly needs.
function(kvbench_compile_quickly name)
  target_compile_options(${name} PRIVATE
    "$<$<CONFIG:RelWithDebInfo>:-O0;-fno-sanitize=null,alignment,vptr,object-size>")
endfunction()

function(kvbench_compile_options name)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  # -ffp-contract=off: the same input gives the same bytes whatever instructions a machine has.
  # Kernels use explicit fused multiply-adds where they want them.
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Wconversion -Wno-sign-conversion -Werror
    -ffp-contract=off)
endfunction()

# kvbench_test(NAME SOURCES ... DEPENDS ...): a GoogleTest program whose cases ctest lists one by one.
function(kvbench_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE KVBENCH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  kvbench_compile_options(${name})
  # Test code is compiled more often than it runs; what it tests keeps its flags.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  kvbench_compile_quickly(${name})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${KVBENCH_UNITY_TESTS} UNITY_BUILD_BATCH_SIZE 6)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()
