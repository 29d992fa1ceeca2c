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

struct Memory {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t replica = 0;
  bool is_written = false;
};

void append(std::vector<Memory>& all, const void* tensor, std::size_t bytes, std::size_t replica,
            bool is_written) {
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor);
  if (bytes > 0) all.push_back({begin, begin + bytes, replica, is_written});
}

std::string nameOf(const Memory& memory) {
  return std::string(memory.is_written ? "out" : "in") + " of local replica " +
         std::to_string(memory.replica);
}

// A tensor that is written has no byte in common with another one; but with its replica's input, in place.
pop::Status checkApart(std::vector<Memory>& all, bool in_place) {
  std::ranges::sort(all, {}, &Memory::begin);
  for (std::size_t at = 0; at < all.size(); ++at) {
    for (std::size_t next = at + 1; next < all.size() && all[next].begin < all[at].end; ++next) {
      const Memory& a = all[at];
      const Memory& b = all[next];
      const bool is_same = a.begin == b.begin && a.replica == b.replica && a.is_written != b.is_written;
      if ((!a.is_written && !b.is_written) || (in_place && is_same)) continue;
      return pop::invalidArgument(nameOf(a) + " and " + nameOf(b) + " overlap");
    }
  }
  return {};
}

pop::Status checkApart(const PodCall& call, const Shape& shape) {
  std::vector<Memory> all;
  for (std::size_t at = 0; at < call.in.size(); ++at)
    append(all, call.in[at], shape.in * sizeOf(call.type), at, false);
  for (std::size_t at = 0; at < call.out.size(); ++at)
    append(all, call.out[at], shape.out * sizeOf(call.type), at, true);
  return checkApart(all, call.kind == CollectiveKind::kAllReduce);
}

pop::Status checkTensors(std::span<const void* const> tensors, const char* name, std::size_t count,
                         int local_replicas) {
  if (tensors.size() != static_cast<std::size_t>(local_replicas))
    return pop::invalidArgument(std::string("expected a tensor in `") + name + "` for each of the " +
                                pop::counted(local_replicas, "local replica") + ", got " +
                                std::to_string(tensors.size()));
  const auto* const null = std::ranges::find(tensors.data(), tensors.data() + tensors.size(), nullptr);
  if (count == 0 || null == tensors.data() + tensors.size()) return {};
  return pop::invalidArgument(std::string(name) + " of local replica " +
                              std::to_string(null - tensors.data()) + " is a null pointer");
}

pop::Status checkOperator(const PodCall& call) {
  if (!call.reduces() || supports(call.op, call.type)) return {};
  return pop::invalidArgument(std::string(popdist::nameOf(call.op)) + " of " + popdist::nameOf(call.type) +
                              " is not supported");
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
      break;
  }
  return plan::kDeviceReduceScatter;
}

pop::pod::ReplicaGroup groupOf(const popdist::ReplicaGroup& group, int replicas) {
  const int size = group.size == 0 ? replicas : group.size;
  const int stride = group.stride == 0 && size > 0 ? replicas / size : group.stride;
  return {size, stride};
}

pop::Status checkAllButTensors(const PodCall& call, int replicas) {
  const pop::pod::ReplicaGroup group = groupOf(call.options.group, replicas);
  POP_RETURN_IF_ERROR(validate(group, replicas));
  if (sizeOf(call.type) == 0) return pop::invalidArgument("there is no such type");
  POP_RETURN_IF_ERROR(checkOperator(call));
  if (call.count > group::maxElements(call.type) / static_cast<std::size_t>(group.size))
    return pop::invalidArgument("count exceeds the address space");
  if (call.root < 0 || call.root >= group.size)
    return pop::invalidArgument("root is place " + std::to_string(call.root) + ", and groups have " +
                                std::to_string(group.size));
  return {};
}

pop::Status check(const PodCall& call, int replicas, int local_replicas) {
  POP_RETURN_IF_ERROR(checkAllButTensors(call, replicas));
  const Shape shape = shapeOf(call, groupOf(call.options.group, replicas).size);
  if (call.kind != CollectiveKind::kBroadcast)
    POP_RETURN_IF_ERROR(checkTensors(call.in, "in", shape.in, local_replicas));
  POP_RETURN_IF_ERROR(checkTensors(call.out, "out", shape.out, local_replicas));
  return checkApart(call, shape);
}

pop::Status checkApart(std::span<const Pod::Tensor> tensors, Type type) {
  std::vector<Memory> all;
  for (const Pod::Tensor& each : tensors) {
    for (std::size_t at = 0; at < each.local.size(); ++at)
      append(all, each.local[at], each.count * sizeOf(type), at, true);
  }
  return checkApart(all, false);
}

Collective collectiveOf(const PodCall& call, int replicas) {
  const pop::pod::ReplicaGroup group = groupOf(call.options.group, replicas);
  const std::size_t parts = hasParts(call.kind) ? static_cast<std::size_t>(group.size) : 1;
  return {.kind = call.kind,
          .group = group,
          .count = call.count * parts,
          .element_bytes = sizeOf(call.type),
          .root = call.root};
}

std::string labelOf(const Collective& collective, const std::string& method) {
  std::string label = std::to_string(collective.group.size) + 'x' + std::to_string(collective.group.stride);
  if (collective.kind == CollectiveKind::kBroadcast) label += " from " + std::to_string(collective.root);
  return label + ' ' + method;
}

}  // namespace popdist::pod
