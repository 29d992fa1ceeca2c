// SPDX-License-Identifier: Apache-2.0
// popdist_c.h: asynchronous collectives.
#include "libpopdist/c/handles.h"

namespace {

using popdist::c::Call;
using popdist::c::errorOf;
using popdist::c::timeoutOf;

// The handle comes first: once a call is issued, nothing may fail.
template <typename Issue>
void issue(const Call& call, const char* name, popdist_request_t** request, const Issue& issue) {
  call.notNull(name, "name");
  if (request == nullptr) {
    static_cast<void>(issue());
    return;
  }
  auto handle = std::make_unique<popdist_request_t>();
  handle->pending.emplace(issue());
  *request = handle.release();
}

}  // namespace

popdist_error_t* popdist_async_create(popdist_communicator_t* communicator, popdist_async_t** async) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(async, "async");
    call.refuseWorld(call.of(communicator, "communicator"));
    *async = new popdist_async_t{popdist::AsyncCommunicator(std::move(communicator->owned))};
    delete communicator;
  });
}
void popdist_async_free(popdist_async_t* async) {
  delete async;
}

popdist_error_t* popdist_async_all_reduce(popdist_async_t* async, const char* name, const void* in, void* out,
                                          std::size_t count, popdist_type_t type, popdist_operator_t op,
                                          std::int64_t timeout_ms, popdist_request_t** request) {
  return errorOf(__func__, [&](const Call& call) {
    issue(call, name, request, [&] {
      return call.of(async, "async")
          .communicator.allReduce(name, in, out, count, call.type(type), call.op(op), timeoutOf(timeout_ms));
    });
  });
}

popdist_error_t* popdist_async_reduce_scatter(popdist_async_t* async, const char* name, const void* in,
                                              void* out, std::size_t count, popdist_type_t type,
                                              popdist_operator_t op, std::int64_t timeout_ms,
                                              popdist_request_t** request) {
  return errorOf(__func__, [&](const Call& call) {
    issue(call, name, request, [&] {
      return call.of(async, "async")
          .communicator.reduceScatter(name, in, out, count, call.type(type), call.op(op),
                                      timeoutOf(timeout_ms));
    });
  });
}

popdist_error_t* popdist_async_reduce(popdist_async_t* async, const char* name, const void* in, void* out,
                                      std::size_t count, popdist_type_t type, popdist_operator_t op, int root,
                                      std::int64_t timeout_ms, popdist_request_t** request) {
  return errorOf(__func__, [&](const Call& call) {
    issue(call, name, request, [&] {
      return call.of(async, "async")
          .communicator.reduce(name, in, out, count, call.type(type), call.op(op), root,
                               timeoutOf(timeout_ms));
    });
  });
}

popdist_error_t* popdist_async_all_gather(popdist_async_t* async, const char* name, const void* in, void* out,
                                          std::size_t count, popdist_type_t type, std::int64_t timeout_ms,
                                          popdist_request_t** request) {
  return errorOf(__func__, [&](const Call& call) {
    issue(call, name, request, [&] {
      return call.of(async, "async")
          .communicator.allGather(name, in, out, count, call.type(type), timeoutOf(timeout_ms));
    });
  });
}

popdist_error_t* popdist_async_broadcast(popdist_async_t* async, const char* name, void* data,
                                         std::size_t count, popdist_type_t type, int root,
                                         std::int64_t timeout_ms, popdist_request_t** request) {
  return errorOf(__func__, [&](const Call& call) {
    issue(call, name, request, [&] {
      return call.of(async, "async")
          .communicator.broadcast(name, data, count, call.type(type), root, timeoutOf(timeout_ms));
    });
  });
}

popdist_error_t* popdist_async_all_to_all(popdist_async_t* async, const char* name, const void* in, void* out,
                                          std::size_t count, popdist_type_t type, std::int64_t timeout_ms,
                                          popdist_request_t** request) {
  return errorOf(__func__, [&](const Call& call) {
    issue(call, name, request, [&] {
      return call.of(async, "async")
          .communicator.allToAll(name, in, out, count, call.type(type), timeoutOf(timeout_ms));
    });
  });
}

popdist_error_t* popdist_async_barrier(popdist_async_t* async, const char* name, std::int64_t timeout_ms,
                                       popdist_request_t** request) {
  return errorOf(__func__, [&](const Call& call) {
    issue(call, name, request,
          [&] { return call.of(async, "async").communicator.barrier(name, timeoutOf(timeout_ms)); });
  });
}

popdist_error_t* popdist_request_wait(const popdist_request_t* request) {
  return errorOf(__func__, [&](const Call& call) { call.of(request, "request").pending->wait(); });
}
bool popdist_request_done(const popdist_request_t* request) {
  return request->pending->done();
}
void popdist_request_free(popdist_request_t* request) {
  delete request;
}
