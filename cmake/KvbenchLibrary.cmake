# kvbench_library(NAME [COLD] [PARSES] [ALONE] [FOLDERS ...] [SOURCES ...] [DEPENDS ...]): one static library for each part of the
# house, of every source in the folders named. All of them share the warnings, the include root and the floating-point
# rules set here.
# COLD: its code is compiled more often than it matters how fast it runs (kvbench_compile_quickly).
# PARSES: the same in the sanitizer builds alone. ALONE: each source is compiled by itself.
function(kvbench_library name)
  cmake_parse_arguments(ARG "COLD;PARSES;ALONE" "" "FOLDERS;SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  kvbench_sources(sources ${ARG_FOLDERS})
  add_library(${name} STATIC ${sources} ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  kvbench_compile_options(${name})
  if(ARG_COLD)
    kvbench_compile_quickly(${name})
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    kvbench_precompile(${name} kvbench_results)
  elseif(ARG_PARSES)
    kvbench_compile_quickly(${name})
    kvbench_precompile(${name} kvbench_base)
  endif()
  if(NOT ARG_ALONE)
    kvbench_unity(${name} ${sources})
  endif()
endfunction()

# kvbench_sources(VARIABLE FOLDER...): the sources that lie in these folders, so that a new one needs no line here; but not
# those of a program's main, and not the long tests, which have a program of their own.
function(kvbench_sources variable)
  set(sources "")
  list(TRANSFORM ARGN APPEND "/*.cc" OUTPUT_VARIABLE patterns)
  if(patterns)
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    list(FILTER sources EXCLUDE REGEX "(main|_long_test)\\.cc$")
  endif()
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# kvbench_precompile(NAME OWNER [HEADER...]): the headers that most cold sources take seconds to read, read once for
# OWNER, which must come first, and all that have its flags.
function(kvbench_precompile name owner)
  if(name STREQUAL owner)
    target_precompile_headers(${name} PRIVATE <algorithm> <cmath> <functional> <map> <memory> <optional> <string> <vector>
      <fmt/format.h> <nlohmann/json.hpp> ${ARGN})
  else()
    target_precompile_headers(${name} REUSE_FROM ${owner})
  endif()
  # GCC 12 warns of std::string's own code, and from a precompiled header it does not know that it is a system's.
  target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
endfunction()

# kvbench_unity(NAME SOURCE...): compiles the sources of a folder KVBENCH_UNITY at a time: most of what a source costs is
# its headers and templates.
function(kvbench_unity name)
  if(KVBENCH_UNITY LESS 2)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class with a member of a type that its source alone has is no header's, as the warning supposes.
  target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${KVBENCH_UNITY}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder}_${group})
  endforeach()
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

# kvbench_test(NAME [OPTIMISED | SANITIZED] [TOGETHER SUITE] [TIMEOUT SECONDS] [FOLDERS ...] [SOURCES ...] DEPENDS ...): a
# GoogleTest program whose cases ctest lists one by one.
# OPTIMISED: never built with sanitizers, under which it would take minutes. SANITIZED: tools/test runs it with sanitizers
# only. Neither: in both builds. TOGETHER: the cases of this suite share long runs, so they are one test for ctest.
function(kvbench_test name)
  cmake_parse_arguments(ARG "OPTIMISED;SANITIZED" "TIMEOUT;TOGETHER" "FOLDERS;SOURCES;DEPENDS" ${ARGN})
  if((ARG_OPTIMISED AND KVBENCH_TESTS STREQUAL "sanitized") OR (ARG_SANITIZED AND KVBENCH_TESTS STREQUAL "optimised"))
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  kvbench_sources(sources ${ARG_FOLDERS})
  foreach(source IN LISTS ARG_SOURCES)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    list(APPEND sources ${source})
  endforeach()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest_main)
  kvbench_test_options(${name})
  kvbench_unity(${name} ${sources})
  set(each *)
  if(ARG_TOGETHER)
    set(each -${ARG_TOGETHER}.*)
    add_test(NAME ${ARG_TOGETHER} COMMAND ${name} --gtest_filter=${ARG_TOGETHER}.*)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_FILTER ${each} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  add_dependencies(kvbench_tests ${name})
endfunction()

# The same for all, as precompiled headers have to have them.
function(kvbench_test_options name)
  target_link_libraries(${name} PRIVATE fmt::fmt nlohmann_json::nlohmann_json GTest::gmock)
  target_compile_definitions(${name} PRIVATE KVBENCH_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    KVBENCH_PROGRAM="$<TARGET_FILE:kvbench>" KVBENCH_PYTHON="${KVBENCH_PYTHON}"
    KVBENCH_XMLLINT="${KVBENCH_XMLLINT}")
  kvbench_compile_options(${name})
  # Test code is compiled more often than it runs; what it tests keeps its flags.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  kvbench_compile_quickly(${name})
  kvbench_precompile(${name} kvbench_test_headers <gtest/gtest.h> <gmock/gmock.h>)
endfunction()
