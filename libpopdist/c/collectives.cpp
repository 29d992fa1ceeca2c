// SPDX-License-Identifier: Apache-2.0
// popdist_c.h: collectives between instances.
#include <span>

#include "libpopdist/c/handles.h"

namespace {

using popdist::c::Call;
using popdist::c::errorOf;

// An array of as many counts as the communicator has members.
std::span<const std::size_t> countsOf(const Call& call, popdist_communicator_t* members,
                                      const std::size_t* counts, const char* name) {
  call.notNull(counts, name);
  return {counts, static_cast<std::size_t>(call.of(members).size())};
}

}  // namespace

int popdist_rank(const popdist_communicator_t* communicator) {
  return communicator->communicator->rank();
}
int popdist_size(const popdist_communicator_t* communicator) {
  return communicator->communicator->size();
}

popdist_error_t* popdist_all_reduce(popdist_communicator_t* communicator, const void* in, void* out,
                                    std::size_t count, popdist_type_t type, popdist_operator_t op,
                                    const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator).allReduce(in, out, count, call.type(type), call.op(op), call.options(options));
  });
}

popdist_error_t* popdist_reduce_scatter(popdist_communicator_t* communicator, const void* in, void* out,
                                        std::size_t count, popdist_type_t type, popdist_operator_t op,
                                        const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator).reduceScatter(in, out, count, call.type(type), call.op(op), call.options(options));
  });
}

popdist_error_t* popdist_reduce(popdist_communicator_t* communicator, const void* in, void* out,
                                std::size_t count, popdist_type_t type, popdist_operator_t op, int root,
                                const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator).reduce(in, out, count, call.type(type), call.op(op), root, call.options(options));
  });
}

popdist_error_t* popdist_all_gather(popdist_communicator_t* communicator, const void* in, void* out,
                                    std::size_t count, popdist_type_t type,
                                    const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator).allGather(in, out, count, call.type(type), call.options(options));
  });
}

popdist_error_t* popdist_all_gather_v(popdist_communicator_t* communicator, const void* in, void* out,
                                      const std::size_t* counts, popdist_type_t type,
                                      const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator)
        .allGather(in, out, countsOf(call, communicator, counts, "counts"), call.type(type),
                   call.options(options));
  });
}

popdist_error_t* popdist_broadcast(popdist_communicator_t* communicator, void* data, std::size_t count,
                                   popdist_type_t type, int root, const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator).broadcast(data, count, call.type(type), root, call.options(options));
  });
}

popdist_error_t* popdist_gather(popdist_communicator_t* communicator, const void* in, void* out,
                                std::size_t count, popdist_type_t type, int root,
                                const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator).gather(in, out, count, call.type(type), root, call.options(options));
  });
}

popdist_error_t* popdist_scatter(popdist_communicator_t* communicator, const void* in, void* out,
                                 std::size_t count, popdist_type_t type, int root,
                                 const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator).scatter(in, out, count, call.type(type), root, call.options(options));
  });
}

popdist_error_t* popdist_all_to_all(popdist_communicator_t* communicator, const void* in, void* out,
                                    std::size_t count, popdist_type_t type,
                                    const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator).allToAll(in, out, count, call.type(type), call.options(options));
  });
}

popdist_error_t* popdist_all_to_all_v(popdist_communicator_t* communicator, const void* in,
                                      const std::size_t* send_counts, void* out,
                                      const std::size_t* recv_counts, popdist_type_t type,
                                      const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator)
        .allToAll(in, countsOf(call, communicator, send_counts, "send_counts"), out,
                  countsOf(call, communicator, recv_counts, "recv_counts"), call.type(type),
                  call.options(options));
  });
}

popdist_error_t* popdist_send_recv(popdist_communicator_t* communicator, const void* in,
                                   std::size_t send_count, int to, void* out, std::size_t recv_count,
                                   int from, popdist_type_t type, const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    call.of(communicator)
        .sendRecv(in, send_count, to, out, recv_count, from, call.type(type), call.options(options));
  });
}

popdist_error_t* popdist_barrier(popdist_communicator_t* communicator,
                                 const popdist_call_options_t* options) {
  return errorOf(__func__, [&](const Call& call) { call.of(communicator).barrier(call.options(options)); });
}
