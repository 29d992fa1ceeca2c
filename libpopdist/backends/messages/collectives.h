// SPDX-License-Identifier: Apache-2.0
// The collectives by messages. Large ones go round a ring, each rank sending to the next: reductions as
// reduce-scatter and all-gather, broadcast and reduce as a chain in segments. What has one place to go, goes
// there.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libpopdist/backends/messages/exchange.h"
#include "libpopdist/src/group/collective_call.h"

namespace popdist::backends {

/// Memory for partial results, kept from call to call.
class Scratch {
 public:
  /// At least `bytes`; what was there before is gone.
  std::byte* atLeast(std::size_t bytes);

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
};

class Collectives {
 public:
  Collectives(Exchange& exchange, Scratch& scratch, const group::CollectiveCall& call, int rank, int ranks);

  /// Carries out the call; `call` has been checked.
  Failure run();

 private:
  /// Some elements of a buffer.
  struct Part {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  using Parts = std::vector<Part>;

  Failure allReduce();
  Failure reduceScatter(const Parts& blocks, std::byte* out);
  Failure reduceScatterSegment(const Parts& parts, std::byte* out, std::byte* scratch);
  Failure reduce();
  Failure allGather(const Parts& blocks);
  Failure broadcast();
  Failure gather();
  Failure scatter();
  Failure allToAll();
  Failure barrier();
  Failure sendRecv();
  Failure gatherPartners(std::vector<plan::Partners>& all);

  /// Combines what comes from `from` with own elements of the same part, into `out`.
  Incoming folding(int from, Part own, std::byte* out, bool partial, bool last) const;
  /// Writes what comes from `from` to `part` of the output.
  Incoming writing(int from, Part part) const;
  Outgoing sending(int to, const std::byte* buffer, Part part) const;
  void copyToOutput(Part from, Part to) const;
  void foldAlone(std::byte* out) const;
  int wrapped(int rank) const { return (rank % ranks_ + ranks_) % ranks_; }
  Part block(int rank) const { return {static_cast<std::size_t>(rank) * call_.count, call_.count}; }
  Parts equalBlocks() const;
  static Parts partsOf(std::span<const std::size_t> counts);

  Exchange& exchange_;
  Scratch& scratch_;
  const group::CollectiveCall& call_;
  const int rank_;
  const int ranks_;
  const int left_;
  const int right_;
  const std::size_t element_bytes_;
  const std::byte* const input_;
  std::byte* const output_;
};

}  // namespace popdist::backends
