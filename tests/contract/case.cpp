// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/base/random.h"
#include "tests/unit/libpopdist/collectives/reduce/fold_reference.h"

namespace popdist::contract {
namespace {

std::uint64_t drawn(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return pop::SplitMix64(seed * 0x9E3779B97F4A7C15ULL + a * 0xC2B2AE3D27D4EB4FULL + b).next();
}

// No zero, no NaN, and no product of a few that is infinite in float.
template <typename T>
T sampleOf(const Case& tested, int rank, std::size_t index) {
  const std::uint64_t bits = drawn(tested.seed, static_cast<std::uint64_t>(rank) + 1, index);
  if constexpr (std::is_same_v<T, bool>) {
    return (bits & 1) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    const double sign = (bits & 1) != 0 ? -1.0 : 1.0;
    const double exact = tested.op == Operator::kProduct ? 1.0 + static_cast<double>(bits >> 1 & 1)
                                                         : 1.0 + static_cast<double>(bits % 3);
    const double any = 0.25 + static_cast<double>(bits >> 12) * 0x1.0p-52 * 4;
    return static_cast<T>(static_cast<reduce::Number<T>>(sign * (tested.exact ? exact : any)));
  }
}

template <typename T>
Bytes samplesOf(const Case& tested, int rank, std::size_t begin, std::size_t count) {
  Bytes bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T sample = sampleOf<T>(tested, rank, begin + i);
    std::memcpy(bytes.data() + i * sizeof(T), &sample, sizeof(T));
  }
  return bytes;
}

template <typename T>
Bytes foldOf(const Case& tested, int ranks, std::size_t begin, std::size_t count) {
  Bytes bytes(count * sizeof(T));
  std::vector<T> elements(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < count; ++i) {
    for (int rank = 0; rank < ranks; ++rank)
      elements[static_cast<std::size_t>(rank)] = sampleOf<T>(tested, rank, begin + i);
    const T result = reduce::folded<T>(tested.op, elements, 0, ranks);
    std::memcpy(bytes.data() + i * sizeof(T), &result, sizeof(T));
  }
  return bytes;
}

template <typename Function>
Bytes withType(Type type, const Function& function) {
  switch (type) {
    case Type::kBool:
      return function(bool());
    case Type::kInt8:
      return function(std::int8_t());
    case Type::kUint8:
      return function(std::uint8_t());
    case Type::kInt16:
      return function(std::int16_t());
    case Type::kUint16:
      return function(std::uint16_t());
    case Type::kInt32:
      return function(std::int32_t());
    case Type::kUint32:
      return function(std::uint32_t());
    case Type::kInt64:
      return function(std::int64_t());
    case Type::kUint64:
      return function(std::uint64_t());
    case Type::kHalf:
      return function(half());
    case Type::kBfloat16:
      return function(bfloat16());
    case Type::kFloat:
      return function(float());
    case Type::kDouble:
      return function(double());
  }
  return {};
}

Bytes samples(const Case& tested, int rank, std::size_t begin, std::size_t count) {
  return withType(tested.type,
                  [&](auto sample) { return samplesOf<decltype(sample)>(tested, rank, begin, count); });
}

Bytes folds(const Case& tested, int ranks, std::size_t begin, std::size_t count) {
  return withType(tested.type,
                  [&](auto sample) { return foldOf<decltype(sample)>(tested, ranks, begin, count); });
}

std::size_t countOf(const Case& tested, int from, int to) {
  return tested.ragged ? raggedCount(tested, from, to) : tested.count;
}

// The rank to which each rank sends; -1: none.
std::vector<int> targetsOf(const Case& tested, int ranks) {
  std::vector<int> targets(static_cast<std::size_t>(ranks));
  std::iota(targets.begin(), targets.end(), 0);
  pop::SplitMix64 random(drawn(tested.seed, 5, 5));
  for (std::size_t left = targets.size(); left > 1; --left)
    std::swap(targets[left - 1], targets[random.below(left)]);
  for (int& target : targets) {
    if (random.below(5) == 0) target = -1;
  }
  return targets;
}

// The first element for `to` in the input of `from`.
std::size_t beginOf(const Case& tested, int from, int to) {
  if (tested.operation == Operation::kAllGather || tested.operation == Operation::kGather) return 0;
  std::size_t begin = 0;
  for (int before = 0; before < to; ++before) begin += countOf(tested, from, before);
  return begin;
}

}  // namespace

std::string nameOf(const Case& tested) {
  std::string name = plan::nameOf(tested.operation);
  name += " (";
  if (reduces(tested.operation)) name += std::string(popdist::nameOf(tested.op)) + " of ";
  name += std::to_string(tested.count) + ' ' + popdist::nameOf(tested.type) + ')';
  if (hasRoot(tested.operation)) name += ", root " + std::to_string(tested.root);
  if (tested.in_place) name += ", in place";
  if (tested.ragged) name += ", ragged";
  return name + ", seed " + std::to_string(tested.seed);
}

bool canBeRagged(Operation operation) {
  return operation == Operation::kAllGather || operation == Operation::kAllToAll ||
         operation == Operation::kSendRecv;
}

bool canBeInPlace(Operation operation) {
  return reduces(operation) || operation == Operation::kAllGather || operation == Operation::kGather;
}

std::size_t raggedCount(const Case& tested, int from, int to) {
  const bool gathers = tested.operation == Operation::kAllGather;
  const std::uint64_t draw =
      drawn(tested.seed + 77, static_cast<std::uint64_t>(from), gathers ? 0 : static_cast<std::uint64_t>(to));
  return draw % 3 == 0 ? 0 : (draw >> 8) % (tested.count + 1);
}

plan::Partners partnersOf(const Case& tested, int rank, int ranks) {
  const std::vector<int> targets = targetsOf(tested, ranks);
  plan::Partners partners{.to = targets[static_cast<std::size_t>(rank)]};
  const auto sender = std::find(targets.begin(), targets.end(), rank);
  if (sender != targets.end()) partners.from = static_cast<int>(sender - targets.begin());
  if (partners.to >= 0) partners.send_count = countOf(tested, rank, partners.to);
  if (partners.from >= 0) partners.recv_count = countOf(tested, partners.from, rank);
  return partners;
}

std::size_t inputCount(const Case& tested, int rank, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  switch (tested.operation) {
    case Operation::kReduceScatter:
      return n * tested.count;
    case Operation::kBroadcast:
      return rank == tested.root ? tested.count : 0;
    case Operation::kScatter:
      return rank == tested.root ? n * tested.count : 0;
    case Operation::kAllToAll:
      return beginOf(tested, rank, ranks);
    case Operation::kAllGather:
      return countOf(tested, rank, 0);
    case Operation::kBarrier:
      return 0;
    case Operation::kSendRecv:
      return partnersOf(tested, rank, ranks).send_count;
    default:
      return tested.count;
  }
}

std::size_t outputCount(const Case& tested, int rank, int ranks) {
  std::size_t received = 0;
  switch (tested.operation) {
    case Operation::kReduce:
      return rank == tested.root ? tested.count : 0;
    case Operation::kGather:
      return rank == tested.root ? static_cast<std::size_t>(ranks) * tested.count : 0;
    case Operation::kAllToAll:
    case Operation::kAllGather:
      for (int from = 0; from < ranks; ++from) received += countOf(tested, from, rank);
      return received;
    case Operation::kBarrier:
      return 0;
    case Operation::kSendRecv:
      return partnersOf(tested, rank, ranks).recv_count;
    default:
      return tested.count;
  }
}

Bytes inputOf(const Case& tested, int rank, int ranks) {
  return samples(tested, rank, 0, inputCount(tested, rank, ranks));
}

Bytes expectedOf(const Case& tested, int rank, int ranks) {
  const std::size_t count = outputCount(tested, rank, ranks);
  if (count == 0) return {};
  const std::size_t own_block = static_cast<std::size_t>(rank) * tested.count;
  switch (tested.operation) {
    case Operation::kAllReduce:
    case Operation::kReduce:
      return folds(tested, ranks, 0, count);
    case Operation::kReduceScatter:
      return folds(tested, ranks, own_block, count);
    case Operation::kBroadcast:
      return samples(tested, tested.root, 0, count);
    case Operation::kScatter:
      return samples(tested, tested.root, own_block, count);
    case Operation::kSendRecv:
      return samples(tested, partnersOf(tested, rank, ranks).from, 0, count);
    default: {
      Bytes all;
      for (int from = 0; from < ranks; ++from) {
        const Bytes block = samples(tested, from, beginOf(tested, from, rank), countOf(tested, from, rank));
        all.insert(all.end(), block.begin(), block.end());
      }
      return all;
    }
  }
}

}  // namespace popdist::contract
