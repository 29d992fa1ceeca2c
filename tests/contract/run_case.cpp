// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/run_case.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "common/base/random.h"
#include "popdist/buffer.hpp"

namespace popdist::contract {
namespace {

// Memory between guards, of either kind.
class Area {
 public:
  Area(Context& context, std::size_t bytes, bool shared, std::size_t offset)
      : bytes_(bytes), begin_(kGuardBytes + offset) {
    const std::size_t all = bytes + 2 * kGuardBytes + offset;
    if (shared)
      base_ = static_cast<std::byte*>(shared_.emplace(context, all).data());
    else
      base_ = (private_ = Bytes(all)).data();
    std::memset(base_, kGuard, all);
  }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  std::byte* data() const { return base_ + begin_; }
  void set(const Bytes& bytes, std::size_t at = 0) const {
    std::copy(bytes.begin(), bytes.end(), data() + at);
  }
  bool holds(const Bytes& bytes, std::size_t at = 0) const {
    return std::equal(bytes.begin(), bytes.end(), data() + at);
  }
  bool isUntouched() const { return guards(0, begin_ + bytes_ + kGuardBytes); }
  bool guardsHold() const { return guards(0, begin_) && guards(begin_ + bytes_, kGuardBytes); }

 private:
  static constexpr std::size_t kGuardBytes = 64;
  static constexpr int kGuard = 0xA5;

  bool guards(std::size_t begin, std::size_t count) const {
    return std::all_of(base_ + begin, base_ + begin + count,
                       [](std::byte byte) { return byte == static_cast<std::byte>(kGuard); });
  }

  const std::size_t bytes_;
  const std::size_t begin_;
  std::optional<Buffer> shared_;
  Bytes private_;
  std::byte* base_ = nullptr;
};

// The begin of the own part in memory that is input and output at once.
std::size_t ownBlockBytes(const Case& tested, int rank) {
  std::size_t begin = 0;
  for (int before = 0; before < rank; ++before)
    begin += tested.ragged ? raggedCount(tested, before, rank) : tested.count;
  return begin * sizeOf(tested.type);
}

std::string wrong(const Case& tested, int rank, const char* what) {
  return "rank " + std::to_string(rank) + ": " + what + ": " + nameOf(tested);
}

std::string runInPlace(const Members& members, const Case& tested, const Area& area) {
  const auto& [rank, ranks, call] = members;
  const Bytes input = inputOf(tested, rank, ranks);
  const std::size_t own = ownBlockBytes(tested, rank);
  const bool gathers = tested.operation == Operation::kAllGather || tested.operation == Operation::kGather;
  const bool scatters = tested.operation == Operation::kReduceScatter;
  area.set(input, gathers ? own : 0);
  call(tested, gathers ? nullptr : area.data(), area.data() + (scatters ? own : 0));
  Bytes expected = expectedOf(tested, rank, ranks);
  if (scatters) {
    Bytes all = input;
    std::copy(expected.begin(), expected.end(), all.begin() + static_cast<std::ptrdiff_t>(own));
    expected = std::move(all);
  }
  if (expected.empty()) expected = input;  // a reduction for another root
  if (!area.holds(expected)) return wrong(tested, rank, "wrong result");
  return area.guardsHold() ? "" : wrong(tested, rank, "bytes beside the buffer have changed");
}

std::string runApart(const Members& members, const Case& tested, const Area& in, const Area& out) {
  const auto& [rank, ranks, call] = members;
  const Bytes input = inputOf(tested, rank, ranks);
  const bool broadcasts = tested.operation == Operation::kBroadcast;
  (broadcasts ? out : in).set(input);
  call(tested, in.data(), out.data());
  const Bytes expected = expectedOf(tested, rank, ranks);
  if (!out.holds(expected)) return wrong(tested, rank, "wrong result");
  if (expected.empty() && !out.isUntouched()) return wrong(tested, rank, "an unused output has changed");
  if (!broadcasts && !in.holds(input)) return wrong(tested, rank, "the input has changed");
  return in.guardsHold() && out.guardsHold() ? "" : wrong(tested, rank, "bytes beside a buffer have changed");
}

}  // namespace

const char* nameOf(Memory memory) {
  constexpr const char* kNames[] = {"private", "shared", "mixed"};
  return kNames[static_cast<std::size_t>(memory)];
}

std::string runCase(Context& context, const Members& members, const Case& tested, Memory memory,
                    bool unaligned) {
  pop::SplitMix64 random(tested.seed * 64 + static_cast<std::uint64_t>(members.rank));
  const auto shared = [&] {
    return memory == Memory::kShared || (memory == Memory::kMixed && random.below(2) == 0);
  };
  const std::size_t in_offset = unaligned ? 1 + random.below(63) : 0;
  const std::size_t out_offset = unaligned ? 1 + random.below(63) : 0;
  const std::size_t element = sizeOf(tested.type);
  const std::size_t in_bytes = element * inputCount(tested, members.rank, members.ranks);
  const std::size_t out_bytes = element * outputCount(tested, members.rank, members.ranks);
  const bool has_place = tested.operation != Operation::kGather || members.rank == tested.root;
  if (tested.in_place && canBeInPlace(tested.operation) && has_place)
    return runInPlace(members, tested, Area(context, std::max(in_bytes, out_bytes), shared(), out_offset));
  const Area in(context, in_bytes, shared(), in_offset);
  const Area out(context, out_bytes, shared(), out_offset);
  return runApart(members, tested, in, out);
}

Case randomCase(std::uint64_t seed, int ranks, std::size_t most_bytes) {
  pop::SplitMix64 random(seed);
  Case made{.operation = static_cast<Operation>(random.below(10)), .seed = seed};
  do {
    made.type = static_cast<Type>(random.below(13));
    made.op = static_cast<Operator>(random.below(11));
  } while (!supports(made.op, made.type));
  // Small ones as often as large ones.
  const std::uint64_t bits = random.below(24);
  made.count = std::min(random.below((std::uint64_t{1} << bits) + 1), most_bytes / sizeOf(made.type));
  made.root = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  made.in_place = random.below(2) == 0;
  made.ragged = canBeRagged(made.operation) && random.below(2) == 0;
  return made;
}

}  // namespace popdist::contract
