// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_call.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/base/text.h"
#include "libpopdist/collectives/group/collective_call.h"

namespace popdist::pod {
namespace {

bool hasParts(CollectiveKind kind) {
  return kind != CollectiveKind::kAllReduce && kind != CollectiveKind::kBroadcast;
}

// Elements of a tensor.
struct Shape {
  std::size_t in;
  std::size_t out;
};

Shape shapeOf(const PodCall& call, int group) {
  const std::size_t whole = call.count * static_cast<std::size_t>(group);
  if (!hasParts(call.kind)) return {call.count, call.count};
  return {call.kind == CollectiveKind::kAllGather ? call.count : whole,
          call.kind == CollectiveKind::kReduceScatter ? call.count : whole};
}

std::string nameOf(std::size_t rank, const CallRanks& ranks) {
  const auto each = static_cast<std::size_t>(ranks.in_each_replica);
  const std::string ipu = ranks.are_ipus ? "IPU " + std::to_string(rank % each) + " of " : "";
  return ipu + "local replica " + std::to_string(rank / each);
}

struct Memory {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t rank = 0;
  bool is_written = false;
};

void append(std::vector<Memory>& all, const void* tensor, std::size_t bytes, std::size_t rank,
            bool is_written) {
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor);
  if (bytes > 0) all.push_back({begin, begin + bytes, rank, is_written});
}

std::string nameOf(const Memory& memory, const CallRanks& ranks) {
  return std::string(memory.is_written ? "out" : "in") + " of " + nameOf(memory.rank, ranks);
}

// A tensor that is written has no byte in common with another one; but with its rank's input, in place.
pop::Status checkApart(std::vector<Memory>& all, const CallRanks& ranks, bool in_place) {
  std::ranges::stable_sort(all, {}, &Memory::begin);
  for (std::size_t at = 0; at < all.size(); ++at) {
    for (std::size_t next = at + 1; next < all.size() && all[next].begin < all[at].end; ++next) {
      const Memory& a = all[at];
      const Memory& b = all[next];
      const bool is_same = a.begin == b.begin && a.rank == b.rank && a.is_written != b.is_written;
      if ((!a.is_written && !b.is_written) || (in_place && is_same)) continue;
      return pop::invalidArgument(nameOf(a, ranks) + " and " + nameOf(b, ranks) + " overlap");
    }
  }
  return {};
}

pop::Status checkApart(const PodCall& call, const Shape& shape, const CallRanks& ranks) {
  std::vector<Memory> all;
  for (std::size_t at = 0; at < call.in.size(); ++at)
    append(all, call.in[at], shape.in * sizeOf(call.type), at, false);
  for (std::size_t at = 0; at < call.out.size(); ++at)
    append(all, call.out[at], shape.out * sizeOf(call.type), at, true);
  return checkApart(all, ranks, call.kind == CollectiveKind::kAllReduce);
}

std::string counted(const CallRanks& ranks) {
  const std::string replicas = pop::counted(ranks.local_replicas, "local replica");
  return ranks.are_ipus
             ? pop::counted(ranks.local(), "IPU") + " of the " + replicas + ", as the scope is kWithinReplica"
             : replicas;
}

pop::Status checkTensors(std::span<const void* const> tensors, const char* name, std::size_t count,
                         const CallRanks& ranks) {
  if (tensors.size() != static_cast<std::size_t>(ranks.local()))
    return pop::invalidArgument(std::string("expected a tensor in `") + name + "` for each of the " +
                                counted(ranks) + ", got " + std::to_string(tensors.size()));
  const auto* const null = std::ranges::find(tensors.data(), tensors.data() + tensors.size(), nullptr);
  if (count == 0 || null == tensors.data() + tensors.size()) return {};
  return pop::invalidArgument(std::string(name) + " of " +
                              nameOf(static_cast<std::size_t>(null - tensors.data()), ranks) +
                              " is a null pointer");
}

// The operator by which each keeps its own is no reduction, and has all types.
pop::Status checkOperator(const PodCall& call) {
  if (!call.reduces() || supports(call.op, call.type)) return {};
  if (call.op != Operator::kLocal)
    return pop::invalidArgument(std::string(popdist::nameOf(call.op)) + " of " + popdist::nameOf(call.type) +
                                " is not supported");
  if (call.kind == CollectiveKind::kReduceScatter) return {};
  return pop::invalidArgument(
      "the operator local keeps what each has, which is no sum: only reduceScatter has it, and takes each "
      "place's part");
}

pop::pod::ReplicaGroup groupOf(const popdist::ReplicaGroup& group, int divided) {
  const int size = group.size == 0 ? divided : group.size;
  const int stride = group.stride == 0 && size > 0 ? divided / size : group.stride;
  return {size, stride};
}

}  // namespace

plan::Operation PodCall::operation() const {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return plan::kPodAllReduce;
    case CollectiveKind::kReduceScatter:
      return plan::kPodReduceScatter;
    case CollectiveKind::kAllGather:
      return plan::kPodAllGather;
    case CollectiveKind::kAllToAll:
      return plan::kPodAllToAll;
    case CollectiveKind::kBroadcast:
      return plan::kPodBroadcast;
    case CollectiveKind::kReduceScatterOfAll:
    case CollectiveKind::kTakeOwnPart:
      break;
  }
  return plan::kDeviceReduceScatter;
}

CallRanks ranksOf(PodScope scope, const ReplicaLayout& layout, int local_replicas) {
  if (scope == PodScope::kAcrossReplicas) return {layout.replicas, local_replicas, 1, false};
  return {layout.ipus_per_replica, local_replicas, layout.ipus_per_replica, true};
}

pop::Status checkAllButTensors(const PodCall& call, const CallRanks& ranks) {
  const pop::pod::ReplicaGroup group = groupOf(call.options.group, ranks.divided);
  POP_RETURN_IF_ERROR(ranks.are_ipus ? validateWithin(group, ranks.divided) : validate(group, ranks.divided));
  if (sizeOf(call.type) == 0) return pop::invalidArgument("there is no such type");
  POP_RETURN_IF_ERROR(checkOperator(call));
  if (call.count > group::maxElements(call.type) / static_cast<std::size_t>(group.size))
    return pop::invalidArgument("count exceeds the address space");
  if (call.root < 0 || call.root >= group.size)
    return pop::invalidArgument("root is place " + std::to_string(call.root) + ", and groups have " +
                                std::to_string(group.size));
  return {};
}

pop::Status check(const PodCall& call, const CallRanks& ranks) {
  POP_RETURN_IF_ERROR(checkAllButTensors(call, ranks));
  const Shape shape = shapeOf(call, groupOf(call.options.group, ranks.divided).size);
  if (call.kind != CollectiveKind::kBroadcast)
    POP_RETURN_IF_ERROR(checkTensors(call.in, "in", shape.in, ranks));
  POP_RETURN_IF_ERROR(checkTensors(call.out, "out", shape.out, ranks));
  return checkApart(call, shape, ranks);
}

pop::Status checkApart(std::span<const Pod::Tensor> tensors, Type type, const CallRanks& ranks) {
  std::vector<Memory> all;
  for (const Pod::Tensor& each : tensors) {
    for (std::size_t at = 0; at < each.local.size(); ++at)
      append(all, each.local[at], each.count * sizeOf(type), at, true);
  }
  return checkApart(all, ranks, false);
}

Collective collectiveOf(const PodCall& call, const CallRanks& ranks) {
  const pop::pod::ReplicaGroup group = groupOf(call.options.group, ranks.divided);
  const std::size_t parts = hasParts(call.kind) ? static_cast<std::size_t>(group.size) : 1;
  const bool is_local = call.reduces() && call.op == Operator::kLocal;
  return {.kind = is_local ? CollectiveKind::kTakeOwnPart : call.kind,
          .group = group,
          .count = call.count * parts,
          .element_bytes = sizeOf(call.type),
          .root = call.root};
}

std::string labelOf(PodScope scope, const Collective& collective, const std::string& method) {
  std::string label = scope == PodScope::kWithinReplica ? "within " : "";
  label += std::to_string(collective.group.size) + 'x' + std::to_string(collective.group.stride);
  if (collective.kind == CollectiveKind::kBroadcast) label += " from " + std::to_string(collective.root);
  return label + ' ' + method;
}

}  // namespace popdist::pod
