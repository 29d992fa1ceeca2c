# pop_grpc, pop_protobuf: gRPC and protobuf as static libraries: their 57 shared ones take 10 ms to load.
find_package(Protobuf REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPCPP REQUIRED IMPORTED_TARGET grpc++)

# Of a library that is named several times, the last place serves all before it.
set(grpc_libraries ${GRPCPP_STATIC_LIBRARIES})
list(REVERSE grpc_libraries)
list(REMOVE_DUPLICATES grpc_libraries)
list(REVERSE grpc_libraries)
list(PREPEND grpc_libraries protobuf)
list(REMOVE_ITEM grpc_libraries dl pthread rt m atomic)

find_library(PROTOBUF_STATIC_LIBRARY libprotobuf.a REQUIRED)
mark_as_advanced(PROTOBUF_STATIC_LIBRARY)
add_library(pop_protobuf INTERFACE)
target_link_libraries(pop_protobuf INTERFACE ${PROTOBUF_STATIC_LIBRARY} Threads::Threads)

add_library(pop_grpc INTERFACE)
target_compile_options(pop_grpc INTERFACE ${GRPCPP_CFLAGS_OTHER})
foreach(name IN LISTS grpc_libraries)
  find_library(GRPC_LIBRARY_${name} lib${name}.a REQUIRED)
  mark_as_advanced(GRPC_LIBRARY_${name})
  target_link_libraries(pop_grpc INTERFACE ${GRPC_LIBRARY_${name}})
endforeach()
target_link_libraries(pop_grpc INTERFACE Threads::Threads)
