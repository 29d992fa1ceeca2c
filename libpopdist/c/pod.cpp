// SPDX-License-Identifier: Apache-2.0
// popdist_c.h: collectives between replicas.
#include <algorithm>
#include <cstring>
#include <span>

#include "libpopdist/c/handles.h"

namespace {

using popdist::c::Call;
using popdist::c::errorOf;

// An array of one pointer for each replica of this instance.
template <typename Pointer>
std::span<const Pointer> replicasOf(const Call& call, const popdist::Pod& pod, const Pointer* pointers,
                                    const char* name) {
  call.notNull(pointers, name);
  return {pointers, static_cast<std::size_t>(pod.numLocalReplicas())};
}

}  // namespace

popdist_error_t* popdist_pod_create(popdist_context_t* context, popdist_pod_t** pod) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(pod, "pod");
    *pod = new popdist_pod_t{popdist::Pod(call.of(context, "context").context)};
  });
}
void popdist_pod_free(popdist_pod_t* pod) {
  delete pod;
}
const char* popdist_pod_system(const popdist_pod_t* pod) {
  return pod->pod.system().c_str();
}

popdist_error_t* popdist_pod_all_reduce_sum(popdist_pod_t* pod, void* const* tensors, std::size_t count,
                                            popdist_type_t type) {
  return errorOf(__func__, [&](const Call& call) {
    popdist::Pod& on = call.of(pod, "pod").pod;
    on.allReduceSum(replicasOf(call, on, tensors, "tensors"), count, call.type(type));
  });
}

popdist_error_t* popdist_pod_all_reduce(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        std::size_t count, popdist_type_t type, popdist_operator_t op,
                                        const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    popdist::Pod& on = call.of(pod, "pod").pod;
    on.allReduce(replicasOf(call, on, in, "in"), replicasOf(call, on, out, "out"), count, call.type(type),
                 call.op(op), call.options(options));
  });
}

popdist_error_t* popdist_pod_reduce_scatter(popdist_pod_t* pod, const void* const* in, void* const* out,
                                            std::size_t count, popdist_type_t type, popdist_operator_t op,
                                            const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    popdist::Pod& on = call.of(pod, "pod").pod;
    on.reduceScatter(replicasOf(call, on, in, "in"), replicasOf(call, on, out, "out"), count, call.type(type),
                     call.op(op), call.options(options));
  });
}

popdist_error_t* popdist_pod_all_gather(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        std::size_t count, popdist_type_t type,
                                        const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    popdist::Pod& on = call.of(pod, "pod").pod;
    on.allGather(replicasOf(call, on, in, "in"), replicasOf(call, on, out, "out"), count, call.type(type),
                 call.options(options));
  });
}

popdist_error_t* popdist_pod_all_to_all(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        std::size_t count, popdist_type_t type,
                                        const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    popdist::Pod& on = call.of(pod, "pod").pod;
    on.allToAll(replicasOf(call, on, in, "in"), replicasOf(call, on, out, "out"), count, call.type(type),
                call.options(options));
  });
}

popdist_error_t* popdist_pod_broadcast(popdist_pod_t* pod, void* const* tensors, std::size_t count,
                                       popdist_type_t type, int root, const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    popdist::Pod& on = call.of(pod, "pod").pod;
    on.broadcast(replicasOf(call, on, tensors, "tensors"), count, call.type(type), root,
                 call.options(options));
  });
}

popdist_error_t* popdist_pod_advance_compute(popdist_pod_t* pod, double flops_per_replica) {
  return errorOf(__func__, [&](const Call& call) {
    popdist::Pod& on = call.of(pod, "pod").pod;
    on.advanceCompute(flops_per_replica);
  });
}

std::int64_t popdist_pod_time_ps(const popdist_pod_t* pod) {
  return pod->pod.time().count();
}
std::int64_t popdist_pod_collective_time_ps(const popdist_pod_t* pod) {
  return pod->pod.collectiveTime().count();
}
popdist_error_t* popdist_pod_last_collective(const popdist_pod_t* pod, popdist_pod_collective_t* collective) {
  return errorOf(__func__, [&](const Call& call) {
    const popdist::PodCollective& last = call.of(pod, "pod").pod.lastCollective();
    popdist_pod_collective_t& out = call.of(collective, "collective");
    call.checkBytes(out.bytes, "popdist_pod_collective_t");
    const popdist_pod_collective_t all{.bytes = out.bytes,
                                       .time_ps = last.time.count(),
                                       .lower_bound_ps = last.lower_bound.count(),
                                       .rounds = last.rounds,
                                       .bytes_on_busiest_link = last.bytes_on_busiest_link,
                                       .method = last.method.c_str()};
    std::memcpy(collective, &all, std::min(out.bytes, sizeof(all)));
  });
}
