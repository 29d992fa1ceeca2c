# pop_grpc: gRPC, for programs of ours: its shared libraries (pop_grpc_shared), or, in a program with the property
# POP_STATIC_GRPC, as part of it: to load the shared ones, some fifty, takes longer than a call.
find_package(PkgConfig REQUIRED)
# One question: pkg_check_modules asks twenty, and pkg-config takes seconds for each with all of Abseil's packages.
if(NOT POP_GRPC_LIBRARIES)
  execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --static --libs-only-l grpc++
    OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "-l[^ \n]+" libraries "${libraries}")
  list(TRANSFORM libraries REPLACE "^-l" "")
  set(POP_GRPC_LIBRARIES ${libraries} CACHE INTERNAL "what gRPC links, in the linker's order")
endif()
add_library(pop_grpc_shared INTERFACE)
target_link_libraries(pop_grpc_shared INTERFACE ${POP_GRPC_LIBRARIES})
add_library(pop_grpc_archives INTERFACE)
foreach(name IN LISTS POP_GRPC_LIBRARIES)
  if(NOT name MATCHES "^(atomic|dl|pthread|rt|z)$")  # these are everywhere
    find_library(GRPCPP_STATIC_${name} lib${name}.a REQUIRED)
    mark_as_advanced(GRPCPP_STATIC_${name})
    set(name ${GRPCPP_STATIC_${name}})
  endif()
  target_link_libraries(pop_grpc_archives INTERFACE ${name})
endforeach()
add_library(pop_grpc INTERFACE)
target_link_libraries(pop_grpc INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:POP_STATIC_GRPC>>,pop_grpc_archives,pop_grpc_shared>)
