# pop_protobuf: protobuf as a static library: its shared one takes time to load.
find_package(Protobuf REQUIRED)
find_library(PROTOBUF_STATIC_LIBRARY libprotobuf.a REQUIRED)
mark_as_advanced(PROTOBUF_STATIC_LIBRARY)
add_library(pop_protobuf INTERFACE)
target_link_libraries(pop_protobuf INTERFACE ${PROTOBUF_STATIC_LIBRARY} Threads::Threads)
