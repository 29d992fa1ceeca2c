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

// Who sends how much to whom, for the ragged calls.
std::vector<std::size_t> countsTo(const Case& tested, int rank, int ranks) {
  std::vector<std::size_t> counts;
  for (int to = 0; to < ranks; ++to) counts.push_back(raggedCount(tested, rank, to));
  return counts;
}
std::vector<std::size_t> countsFrom(const Case& tested, int rank, int ranks) {
  std::vector<std::size_t> counts;
  for (int from = 0; from < ranks; ++from) counts.push_back(raggedCount(tested, from, rank));
  return counts;
}

void call(Communicator& c, const Case& t, const void* in, void* out) {
  const std::vector<std::size_t> from = countsFrom(t, c.rank(), c.size());
  switch (t.operation) {
    case Operation::kAllReduce:
      return c.allReduce(in, out, t.count, t.type, t.op);
    case Operation::kReduceScatter:
      return c.reduceScatter(in, out, t.count, t.type, t.op);
    case Operation::kReduce:
      return c.reduce(in, out, t.count, t.type, t.op, t.root);
    case Operation::kAllGather:
      if (t.ragged) return c.allGather(in, out, from, t.type);
      return c.allGather(in, out, t.count, t.type);
    case Operation::kBroadcast:
      return c.broadcast(out, t.count, t.type, t.root);
    case Operation::kGather:
      return c.gather(in, out, t.count, t.type, t.root);
    case Operation::kScatter:
      return c.scatter(in, out, t.count, t.type, t.root);
    case Operation::kAllToAll:
      if (t.ragged) return c.allToAll(in, countsTo(t, c.rank(), c.size()), out, from, t.type);
      return c.allToAll(in, out, t.count, t.type);
    case Operation::kBarrier:
      return c.barrier();
    case Operation::kSendRecv: {
      const plan::Partners p = partnersOf(t, c.rank(), c.size());
      return c.sendRecv(in, p.send_count, p.to, out, p.recv_count, p.from, t.type);
    }
  }
}

// Where the own part begins in memory that is input and output at once.
std::size_t ownBlockBytes(const Case& tested, int rank) {
  std::size_t begin = 0;
  for (int before = 0; before < rank; ++before)
    begin += tested.ragged ? raggedCount(tested, before, rank) : tested.count;
  return begin * sizeOf(tested.type);
}

std::string wrong(const Case& tested, int rank, const char* what) {
  return "rank " + std::to_string(rank) + ": " + what + ": " + nameOf(tested);
}

std::string runInPlace(Communicator& c, const Case& tested, const Area& area) {
  const Bytes input = inputOf(tested, c.rank(), c.size());
  const std::size_t own = ownBlockBytes(tested, c.rank());
  const bool gathers = tested.operation == Operation::kAllGather;
  const bool scatters = tested.operation == Operation::kReduceScatter;
  area.set(input, gathers ? own : 0);
  call(c, tested, gathers ? nullptr : area.data(), area.data() + (scatters ? own : 0));
  Bytes expected = expectedOf(tested, c.rank(), c.size());
  if (scatters) {
    Bytes all = input;
    std::copy(expected.begin(), expected.end(), all.begin() + static_cast<std::ptrdiff_t>(own));
    expected = std::move(all);
  }
  if (expected.empty()) expected = input;  // a reduction for another root
  if (!area.holds(expected)) return wrong(tested, c.rank(), "wrong result");
  return area.guardsHold() ? "" : wrong(tested, c.rank(), "bytes beside the buffer have changed");
}

std::string runApart(Communicator& c, const Case& tested, const Area& in, const Area& out) {
  const Bytes input = inputOf(tested, c.rank(), c.size());
  const bool broadcasts = tested.operation == Operation::kBroadcast;
  (broadcasts ? out : in).set(input);
  call(c, tested, in.data(), out.data());
  const Bytes expected = expectedOf(tested, c.rank(), c.size());
  if (!out.holds(expected)) return wrong(tested, c.rank(), "wrong result");
  if (expected.empty() && !out.isUntouched()) return wrong(tested, c.rank(), "an unused output has changed");
  if (!broadcasts && !in.holds(input)) return wrong(tested, c.rank(), "the input has changed");
  return in.guardsHold() && out.guardsHold() ? ""
                                             : wrong(tested, c.rank(), "bytes beside a buffer have changed");
}

}  // namespace

const char* nameOf(Memory memory) {
  constexpr const char* kNames[] = {"private", "shared", "mixed"};
  return kNames[static_cast<std::size_t>(memory)];
}

std::string runCase(Context& context, Communicator& communicator, const Case& tested, Memory memory,
                    bool unaligned) {
  pop::SplitMix64 random(tested.seed * 64 + static_cast<std::uint64_t>(communicator.rank()));
  const auto shared = [&] {
    return memory == Memory::kShared || (memory == Memory::kMixed && random.below(2) == 0);
  };
  const std::size_t in_offset = unaligned ? 1 + random.below(63) : 0;
  const std::size_t out_offset = unaligned ? 1 + random.below(63) : 0;
  const std::size_t element = sizeOf(tested.type);
  const std::size_t in_bytes = element * inputCount(tested, communicator.rank(), communicator.size());
  const std::size_t out_bytes = element * outputCount(tested, communicator.rank(), communicator.size());
  if (tested.in_place && canBeInPlace(tested.operation))
    return runInPlace(communicator, tested,
                      Area(context, std::max(in_bytes, out_bytes), shared(), out_offset));
  const Area in(context, in_bytes, shared(), in_offset);
  const Area out(context, out_bytes, shared(), out_offset);
  return runApart(communicator, tested, in, out);
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
