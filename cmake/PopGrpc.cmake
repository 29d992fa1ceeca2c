# pop_grpc: gRPC, for programs of ours: its shared libraries, or, in a program with the property POP_STATIC_GRPC, as
# part of it: to load the shared ones, some fifty, takes longer than a call.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPCPP REQUIRED IMPORTED_TARGET GLOBAL grpc++)
add_library(pop_grpc_archives INTERFACE)
foreach(name IN LISTS GRPCPP_STATIC_LIBRARIES)
  if(NOT name MATCHES "^(atomic|dl|pthread|rt|z)$")  # these are everywhere
    find_library(GRPCPP_STATIC_${name} lib${name}.a REQUIRED)
    mark_as_advanced(GRPCPP_STATIC_${name})
    set(name ${GRPCPP_STATIC_${name}})
  endif()
  target_link_libraries(pop_grpc_archives INTERFACE ${name})
endforeach()
add_library(pop_grpc INTERFACE)
target_link_libraries(pop_grpc INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:POP_STATIC_GRPC>>,pop_grpc_archives,PkgConfig::GRPCPP>)
