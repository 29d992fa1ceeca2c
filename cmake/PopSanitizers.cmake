# Programs of ours that are built with AddressSanitizer take its defaults from sanitizer_defaults.cpp.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*address")
  add_library(pop_sanitizer_defaults OBJECT ${CMAKE_CURRENT_LIST_DIR}/sanitizer_defaults.cpp)
  link_libraries($<BUILD_INTERFACE:$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:pop_sanitizer_defaults>>)
endif()
