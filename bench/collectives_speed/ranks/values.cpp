// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/ranks/values.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace pop::bench::collectives {
namespace {

// Small whole numbers, so that sums over ranks are exact in every type; 7 divides no block or chunk size, so
// that a piece in the wrong place shows.
constexpr std::size_t kPeriod = 7;
constexpr float kUntouched = -1;

float valueOf(int rank, std::size_t index) {
  return static_cast<float>(rank + 1) * static_cast<float>(index % kPeriod);
}

float sumOver(int size, std::size_t index) {
  return static_cast<float>(size * (size + 1) / 2) * static_cast<float>(index % kPeriod);
}

// Calls `body` with a null pointer to the C++ type.
template <typename Body>
void withType(popdist::Type type, const Body& body) {
  if (type == popdist::Type::kBfloat16)
    body(static_cast<popdist::bfloat16*>(nullptr));
  else if (type == popdist::Type::kHalf)
    body(static_cast<popdist::half*>(nullptr));
  else
    body(static_cast<float*>(nullptr));
}

template <typename Value>
void fill(void* memory, std::size_t count, popdist::Type type, const Value& value) {
  withType(type, [&](auto* null) {
    using T = std::remove_pointer_t<decltype(null)>;
    for (std::size_t i = 0; i < count; ++i) static_cast<T*>(memory)[i] = T(value(i));
  });
}

float expectedAt(const Task& task, std::size_t block, int rank, int size, std::size_t index) {
  const std::size_t own = static_cast<std::size_t>(rank) * block;
  const int from = static_cast<int>(index / block);
  switch (task.operation) {
    case Operation::kAllReduce:
      return sumOver(size, index);
    case Operation::kBroadcast:
      return valueOf(0, index);
    case Operation::kAllGather:
      return valueOf(from, index % block);
    case Operation::kReduceScatter:
      return sumOver(size, own + index);
    case Operation::kAllToAll:
      return valueOf(from, own + index % block);
    case Operation::kBarrier:
      break;
  }
  return 0;
}

std::size_t resultCount(const Task& task, const Buffers& buffers) {
  const bool in_place = task.operation == Operation::kAllReduce || task.operation == Operation::kBroadcast;
  return in_place ? buffers.in_count : buffers.out_count;
}

}  // namespace

Buffers allocateBuffers(Member& member, const Task& task) {
  Buffers buffers;
  if (task.operation == Operation::kBarrier) return buffers;
  const auto size = static_cast<std::size_t>(member.size());
  const bool in_place = task.operation == Operation::kAllReduce || task.operation == Operation::kBroadcast;
  buffers.block = in_place ? task.elements() : std::max<std::size_t>(task.elements() / size, 1);
  buffers.in_count = buffers.block * (in_place || task.operation == Operation::kAllGather ? 1 : size);
  buffers.out_count = in_place ? 0 : buffers.block * (task.operation == Operation::kReduceScatter ? 1 : size);
  buffers.in = member.allocate(buffers.in_count * popdist::sizeOf(task.type));
  if (!in_place) buffers.out = member.allocate(buffers.out_count * popdist::sizeOf(task.type));
  return buffers;
}

void fillForTiming(const Buffers& buffers, popdist::Type type) {
  const auto infinity = [](std::size_t) { return std::numeric_limits<float>::infinity(); };
  fill(buffers.in, buffers.in_count, type, infinity);
  fill(buffers.out, buffers.out_count, type, infinity);
}

void fillForCheck(const Buffers& buffers, popdist::Type type, int rank) {
  fill(buffers.in, buffers.in_count, type, [&](std::size_t i) { return valueOf(rank, i); });
  fill(buffers.out, buffers.out_count, type, [](std::size_t) { return kUntouched; });
}

void check(const Task& task, const Buffers& buffers, const void* result, int rank, int size) {
  withType(task.type, [&](auto* null) {
    using T = std::remove_pointer_t<decltype(null)>;
    for (std::size_t i = 0; i < resultCount(task, buffers); ++i) {
      const auto value = static_cast<float>(static_cast<const T*>(result)[i]);
      const float expected = expectedAt(task, buffers.block, rank, size, i);
      if (value == expected) continue;
      std::fprintf(stderr, "wrong result of %s: element %zu of rank %d is %g, not %g\n",
                   nameOf(task.operation), i, rank, static_cast<double>(value),
                   static_cast<double>(expected));
      std::exit(1);
    }
  });
}

}  // namespace pop::bench::collectives
