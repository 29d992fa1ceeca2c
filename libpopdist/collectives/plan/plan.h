// SPDX-License-Identifier: Apache-2.0
// A collective as data. A pure function (one file per algorithm) returns the steps of one rank; exec/ carries
// them out over any transport.
//
// Words: a *rank* is a position in the communicator (an instance for host collectives, a replica for device
// ones). A *block* is the part of a vector that one rank owns: blockRange says where it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace popdist::plan {

/// The memory that a step reads or writes. kInput is never written; in an in-place collective it is the same
/// memory as kOutput.
enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

enum class StepKind : std::uint8_t {
  kSend,        ///< `from` goes to `peer`
  kRecv,        ///< `to` = what `peer` sent
  kRecvReduce,  ///< `to` = `from` and what `peer` sent, reduced element by element; `from` and `to` may be
                ///< the same range, and that which a kSend of the round takes to the same peer: then an
                ///< element is overwritten once it has been sent
  kCopy,        ///< `to` = `from`, on this rank
};

/// Operands of kRecvReduce: members' own elements, or results of earlier reductions of several members.
/// Operators that prepare a member's elements (squares) or finish the result (a mean) need to know.
struct Operands {
  bool own_is_partial = false;
  bool incoming_is_partial = false;
  bool last = false;  ///< the result is that of all members

  friend bool operator==(const Operands&, const Operands&) = default;
};

/// `offset` counts elements from the start of `buffer`.
struct Slice {
  Buffer buffer = Buffer::kOutput;
  std::size_t offset = 0;

  friend bool operator==(const Slice&, const Slice&) = default;
};

/// Steps of one round run at the same time; a round starts when this rank has finished the one before it.
/// Sums into the same elements are made in the order of the plan.
/// Between two ranks, messages arrive in the order sent. A step of zero elements moves nothing, or a head
/// alone (exec::Call::sends_empty), but still keeps its round.
struct Step {
  StepKind kind = StepKind::kCopy;
  std::uint32_t round = 0;  ///< never decreases along a plan
  int peer = -1;            ///< -1 for kCopy
  Slice from;               ///< kSend, kRecvReduce, kCopy
  Slice to;                 ///< kRecv, kRecvReduce, kCopy
  std::size_t count = 0;    ///< elements
  Operands operands;        ///< kRecvReduce

  friend bool operator==(const Step&, const Step&) = default;
};

struct Plan {
  std::vector<Step> steps;
  std::size_t scratch_count = 0;  ///< elements of kScratch that the executor provides
};

/// Elements [begin, begin + count) of a vector.
struct Range {
  std::size_t begin = 0;
  std::size_t count = 0;
};

/// Block `index` of `blocks` of a vector of `count` elements: sizes differ by at most one, all are covered.
inline Range blockRange(std::size_t count, int blocks, int index) {
  const auto n = static_cast<std::size_t>(blocks);
  const auto i = static_cast<std::size_t>(index);
  // Not count*i/n, which would overflow for huge vectors: the remainder's elements go to the first blocks.
  const std::size_t base = count / n;
  const std::size_t longer = count % n;
  const std::size_t begin = base * i + (i < longer ? i : longer);
  return {begin, base + (i < longer ? 1 : 0)};
}

}  // namespace popdist::plan
