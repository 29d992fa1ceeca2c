// SPDX-License-Identifier: Apache-2.0
// popdist_c.h: collectives between replicas.
#include <algorithm>
#include <cstring>
#include <span>

#include "libpopdist/c/handles.h"

namespace {

using popdist::c::Call;
using popdist::c::errorOf;

class PodCall {
 public:
  PodCall(const Call& call, popdist_pod_t* handle, const popdist_pod_options_t* given)
      : pod(call.of(handle, "pod").pod), options(call.options(given)), call_(call), handle_(*handle) {}

  /// An array of one pointer for each replica of this instance, or each of their IPUs.
  template <typename Pointer>
  std::span<const Pointer> tensors(const Pointer* pointers, const char* name) const {
    call_.notNull(pointers, name);
    const int each = options.scope == popdist::PodScope::kWithinReplica ? handle_.ipus_per_replica : 1;
    return {pointers, static_cast<std::size_t>(pod.numLocalReplicas() * each)};
  }

  popdist::Pod& pod;
  const popdist::PodCallOptions options;

 private:
  const Call& call_;
  const popdist_pod_t& handle_;
};

}  // namespace

popdist_error_t* popdist_pod_create(popdist_context_t* context, popdist_pod_t** pod) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(pod, "pod");
    popdist::Context& of = call.of(context, "context").context;
    *pod = new popdist_pod_t{popdist::Pod(of), of.numIpusPerReplica()};
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
    const PodCall on(call, pod, nullptr);
    on.pod.allReduceSum(on.tensors(tensors, "tensors"), count, call.type(type));
  });
}

popdist_error_t* popdist_pod_all_reduce(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        std::size_t count, popdist_type_t type, popdist_operator_t op,
                                        const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    const PodCall on(call, pod, options);
    on.pod.allReduce(on.tensors(in, "in"), on.tensors(out, "out"), count, call.type(type), call.op(op),
                     on.options);
  });
}

popdist_error_t* popdist_pod_reduce_scatter(popdist_pod_t* pod, const void* const* in, void* const* out,
                                            std::size_t count, popdist_type_t type, popdist_operator_t op,
                                            const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    const PodCall on(call, pod, options);
    on.pod.reduceScatter(on.tensors(in, "in"), on.tensors(out, "out"), count, call.type(type), call.op(op),
                         on.options);
  });
}

popdist_error_t* popdist_pod_all_gather(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        std::size_t count, popdist_type_t type,
                                        const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    const PodCall on(call, pod, options);
    on.pod.allGather(on.tensors(in, "in"), on.tensors(out, "out"), count, call.type(type), on.options);
  });
}

popdist_error_t* popdist_pod_all_to_all(popdist_pod_t* pod, const void* const* in, void* const* out,
                                        std::size_t count, popdist_type_t type,
                                        const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    const PodCall on(call, pod, options);
    on.pod.allToAll(on.tensors(in, "in"), on.tensors(out, "out"), count, call.type(type), on.options);
  });
}

popdist_error_t* popdist_pod_broadcast(popdist_pod_t* pod, void* const* tensors, std::size_t count,
                                       popdist_type_t type, int root, const popdist_pod_options_t* options) {
  return errorOf(__func__, [&](const Call& call) {
    const PodCall on(call, pod, options);
    on.pod.broadcast(on.tensors(tensors, "tensors"), count, call.type(type), root, on.options);
  });
}

popdist_error_t* popdist_pod_advance_compute(popdist_pod_t* pod, double flops_per_replica) {
  return errorOf(__func__,
                 [&](const Call& call) { call.of(pod, "pod").pod.advanceCompute(flops_per_replica); });
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
