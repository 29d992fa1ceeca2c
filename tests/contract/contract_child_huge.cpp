// SPDX-License-Identifier: Apache-2.0
// Counts of any size, of elements that take as much memory for each rank once, and twice.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "popdist/buffer.hpp"
#include "tests/contract/contract_child_parts.h"

namespace popdist::contract {
namespace {

constexpr std::size_t kFew = 5;  // count of all ranks but the first, where counts differ

// Values differ from place to place, also where two places are apart by a power of two.
std::uint8_t sampleOf(int rank, std::size_t index) {
  const std::uint64_t mixed =
      (index + 1) * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(rank) * 0x632BE5AB;
  return static_cast<std::uint8_t>(mixed >> 40);
}

class HugeBytes {
 public:
  HugeBytes(Context& context, std::size_t bytes, bool shared) : bytes_(bytes) {
    if (shared)
      shared_.emplace(context, bytes);
    else
      private_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  }
  std::uint8_t* data() { return shared_ ? shared_->as<std::uint8_t>() : private_.get(); }
  void fill(int rank) {
    for (std::size_t i = 0; i < bytes_; ++i) data()[i] = sampleOf(rank, i);
  }

 private:
  const std::size_t bytes_;
  std::optional<Buffer> shared_;
  std::unique_ptr<std::uint8_t[]> private_;
};

template <typename Expected>
bool holds(const char* what, const std::uint8_t* data, std::size_t count, const Expected& expected) {
  for (std::size_t i = 0; i < count; ++i) {
    if (data[i] == expected(i)) continue;
    std::fprintf(stderr, "%s: element %zu of %zu is wrong\n", what, i, count);
    return false;
  }
  return true;
}

bool reducesAndBroadcasts(Context& context, bool shared, std::size_t count) {
  Communicator& world = context.world();
  HugeBytes data(context, count, shared);
  data.fill(world.rank());
  world.allReduce(data.data(), data.data(), count, Type::kUint8, Operator::kMax);
  const auto greatest = [&](std::size_t i) {
    std::uint8_t result = 0;
    for (int rank = 0; rank < world.size(); ++rank) result = std::max(result, sampleOf(rank, i));
    return result;
  };
  if (!holds("allReduce", data.data(), count, greatest)) return false;
  data.fill(world.rank());
  world.broadcast(data.data(), count, Type::kUint8, 1);
  return holds("broadcast", data.data(), count, [](std::size_t i) { return sampleOf(1, i); });
}

bool gathersRagged(Context& context, bool shared, std::size_t count) {
  Communicator& world = context.world();
  std::vector<std::size_t> counts(static_cast<std::size_t>(world.size()), kFew);
  counts.front() = count;
  const bool first = world.rank() == 0;
  HugeBytes in(context, counts[static_cast<std::size_t>(world.rank())], shared);
  in.fill(world.rank());
  HugeBytes out(context, count + (counts.size() - 1) * kFew, shared);
  world.allGather(in.data(), out.data(), counts, Type::kUint8);
  for (int rank = 1; rank < world.size(); ++rank) {
    const std::uint8_t* const block = out.data() + count + static_cast<std::size_t>(rank - 1) * kFew;
    if (!holds("allGather", block, kFew, [&](std::size_t i) { return sampleOf(rank, i); })) return false;
  }
  return holds(first ? "allGather of its own" : "allGather", out.data(), count,
               [](std::size_t i) { return sampleOf(0, i); });
}

}  // namespace

int holdHugeCounts(Context& context, bool shared, std::size_t count) {
  return reducesAndBroadcasts(context, shared, count) && gathersRagged(context, shared, count) ? 0 : 1;
}

}  // namespace popdist::contract
