# pop_add_library(NAME SRCS … [PUBLIC …] [PRIVATE …]): a static library of ours, also known as pop::NAME.
# Includes are written from the repository's root. A library without sources is header-only.
function(pop_add_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;PUBLIC;PRIVATE" ${ARGN})
  if(ARG_SRCS)
    add_library(pop_${name} STATIC ${ARG_SRCS})
    target_include_directories(pop_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(pop_${name} PUBLIC ${ARG_PUBLIC} PRIVATE pop_warnings ${ARG_PRIVATE})
  else()
    add_library(pop_${name} INTERFACE)
    target_include_directories(pop_${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(pop_${name} INTERFACE ${ARG_PUBLIC})
  endif()
  add_library(pop::${name} ALIAS pop_${name})
endfunction()

# pop_add_executable(NAME SRCS … [LINK …]): a program in build/<preset>/bin.
function(pop_add_executable name)
  cmake_parse_arguments(ARG "" "" "SRCS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE pop_warnings ${ARG_LINK})
endfunction()

set(POP_TEST_OPTIONS -O0)

# pop_add_test(NAME SRCS … LINK … LABELS … [TIMEOUT seconds, of each case] [SHARDS n] [SERIAL]): a GoogleTest
# program. Those that stay in one process (labels unit, fuzz, sim, contract) are one CTest test each, or n, with every
# n-th case each: under sanitizers a start costs more than most cases. Of the others, which start programs, each case is
# one. Programs that it starts are dependencies of its target. SERIAL: they count processes, measure time, or bind ports
# that a job was given, so run them one at a time.
function(pop_add_test name)
  cmake_parse_arguments(ARG "SERIAL" "TIMEOUT;SHARDS" "SRCS;LINK;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    message(FATAL_ERROR "pop_add_test(${name}): say which kind of test it is with LABELS")
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 30)
  endif()
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE pop_warnings ${ARG_LINK} GTest::gmock GTest::gtest_main)
  # Optimising GoogleTest's macros is what a build would spend its time on: 54 s for one file at -O3, 2 s at -O0.
  # What is tested keeps the preset's flags.
  target_compile_options(${name} PRIVATE ${POP_TEST_OPTIONS})
  # Another 2 s of each file were GoogleTest's headers. The preset dev has none, so that files include what they use.
  target_precompile_headers(${name} REUSE_FROM pop_test_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_dependencies(tests_of_lane ${name})
  # One label of all words: gtest_discover_tests takes a list apart. Labels are looked for by regular expressions.
  list(JOIN ARG_LABELS "-" label)
  set(serial)
  if(ARG_SERIAL)
    set(serial RUN_SERIAL TRUE)
  endif()
  if(label MATCHES "^(unit|fuzz|sim|contract$|contract-tsan$)")
    if(NOT ARG_SHARDS)
      set(ARG_SHARDS 1)
    endif()
    foreach(shard RANGE 1 ${ARG_SHARDS})
      set(test ${name})
      if(ARG_SHARDS GREATER 1)
        set(test ${name}.${shard})
      endif()
      math(EXPR index "${shard} - 1")
      add_test(NAME ${test} COMMAND ${name} --gtest_brief=1)
      set_tests_properties(${test} PROPERTIES TIMEOUT 1000 LABELS ${label} ${serial}
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
    endforeach()
    return()
  endif()
  set(properties TIMEOUT ${ARG_TIMEOUT} LABELS ${label} ${serial})
  gtest_discover_tests(${name} TEST_PREFIX "${name}." PROPERTIES "${properties}" DISCOVERY_TIMEOUT 60)
endfunction()

# pop_compile_cheaply(SOURCE…): files that run once for each start and take a compiler longest, as those with CLI11.
function(pop_compile_cheaply)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O1)
endfunction()

# pop_optimise_less(TARGET…): what waits for others more than it computes. A compiler takes 40 % less time for it under
# sanitizers without optimisation, and as much in release at -O1; its tests and benchmarks take no longer.
function(pop_optimise_less)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    set(level -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL Release)
    set(level -O1)
  else()
    return()
  endif()
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${level})
  endforeach()
endfunction()

# pop_compile_apart(SOURCE…): files with names of their own that another of their target has, too. Presets with
# CMAKE_UNITY_BUILD compile the others together.
function(pop_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
