// SPDX-License-Identifier: Apache-2.0
// sendRecv between ranks of one host. Only the partners know how much they move, so it has a meeting of its
// own kind: each rank writes into its note what it asks for, and, before that, all it sends into its stage if
// that is little. What is more goes from buffer to buffer or through the stages when all have met.
#pragma once

#include <vector>

#include "libpopdist/src/choice/memory_choice.h"
#include "libpopdist/src/group/collective_call.h"
#include "libpopdist/src/shared/engine.h"

namespace popdist::calls {

class SharedSendRecv {
 public:
  struct Place {
    int rank = 0;
    int ranks = 1;
    plan::StageShape slots;
  };
  SharedSendRecv(shared::Engine& engine, choice::MemoryChoice& choice, const Place& place)
      : engine_(engine), choice_(choice), place_(place), all_(static_cast<std::size_t>(place.ranks)) {}

  /// False: the engine has failed, or `contradiction` says how partners do not fit together.
  bool run(const group::CollectiveCall& call, const shared::Call& shared, exec::Failure& contradiction);

  /// With which the last call was carried out: that of its large transfers, if there were any.
  choice::SharedAlgorithm taken() const { return taken_; }

 private:
  using Algorithm = choice::SharedAlgorithm;

  bool meet(const shared::Call& call, const shared::Buffers& buffers, const plan::Partners& own,
            std::size_t element_bytes);
  bool agree(exec::Failure& contradiction) const;
  bool moveLarge(const shared::Call& call, const shared::Buffers& buffers, const plan::Flows& flows);

  shared::Engine& engine_;
  choice::MemoryChoice& choice_;
  const Place place_;
  std::vector<plan::Partners> all_;  ///< what each rank asks for
  Algorithm taken_ = Algorithm::kEager;
};

}  // namespace popdist::calls
