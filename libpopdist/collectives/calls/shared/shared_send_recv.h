// SPDX-License-Identifier: Apache-2.0
// sendRecv between ranks of one host. Only the partners know how much they move, so it meets in its own way:
// each rank writes its request into its call slot and, before that, the data into its stage if it is small.
// Larger data goes from buffer to buffer or through the stages after the meeting.
#pragma once

#include <vector>

#include "libpopdist/collectives/choice/in_memory.h"
#include "libpopdist/collectives/group/collective_call.h"
#include "libpopdist/collectives/shared/engine.h"
#include "libpopdist/collectives/shared/reading_probe.h"

namespace popdist::calls {

class SharedSendRecv {
 public:
  /// All of them outlive this object.
  SharedSendRecv(shared::Meeting& meeting, shared::Engine& engine, shared::ReadingProbe& reading,
                 const choice::MemoryChoice& choice)
      : meeting_(meeting),
        engine_(engine),
        reading_(reading),
        choice_(choice),
        rank_(meeting.place().rank),
        all_(static_cast<std::size_t>(meeting.place().ranks)) {}

  /// False: the meeting failed or the partners contradict each other.
  bool run(const group::CollectiveCall& call, const shared::Call& shared);

  /// The algorithm of the last call: that of its large transfers, if there were any.
  choice::SharedAlgorithm taken() const { return taken_; }

 private:
  using Algorithm = choice::SharedAlgorithm;

  bool meet(const shared::Call& call, const shared::Buffers& buffers, const plan::Partners& own,
            std::size_t element_bytes);
  bool agree();
  bool moveLarge(const shared::Call& call, const shared::Buffers& buffers, const plan::Flows& flows);

  shared::Meeting& meeting_;
  shared::Engine& engine_;
  shared::ReadingProbe& reading_;
  const choice::MemoryChoice& choice_;
  const int rank_;
  std::vector<plan::Partners> all_;  ///< requests by rank
  Algorithm taken_ = Algorithm::kEager;
};

}  // namespace popdist::calls
