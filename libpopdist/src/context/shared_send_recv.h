// SPDX-License-Identifier: Apache-2.0
// sendRecv between ranks of one host. Only the partners know how much they move, so it has a meeting of its
// own kind: each rank writes into its note what it asks for, and, before that, all it sends into its stage if
// that is little. What is more goes from buffer to buffer or through the stages when all have met.
#pragma once

#include <optional>
#include <vector>

#include "libpopdist/src/context/collective_call.h"
#include "libpopdist/src/plan/shared_select.h"
#include "libpopdist/src/shared/engine.h"
#include "libpopdist/src/shared/reading_probe.h"

namespace popdist::context {

class SharedSendRecv {
 public:
  struct Place {
    int rank = 0;
    int ranks = 1;
    plan::StageLayout layout;
  };
  /// `forced`: instead of what the table says, where it can be done.
  SharedSendRecv(shared::Engine& engine, shared::ReadingProbe& reading, const Place& place,
                 std::optional<plan::SharedAlgorithm> forced)
      : engine_(engine),
        reading_(reading),
        place_(place),
        forced_(forced),
        all_(static_cast<std::size_t>(place.ranks)) {}

  /// False: the engine has failed, or `contradiction` says how partners do not fit together.
  bool run(const CollectiveCall& call, const shared::Call& shared, exec::Failure& contradiction);

  /// With which the last call was carried out: that of its large transfers, if there were any.
  plan::SharedAlgorithm taken() const { return taken_; }

 private:
  using Algorithm = plan::SharedAlgorithm;

  bool meet(const shared::Call& call, const shared::Buffers& buffers, const plan::Partners& own,
            std::size_t element_bytes);
  bool agree(exec::Failure& contradiction) const;
  bool moveLarge(const shared::Call& call, const shared::Buffers& buffers, const plan::Flows& flows);
  Algorithm algorithmFor(std::size_t bytes, bool mapped) const;
  bool isWorthPulling(const plan::Flows& flows) const;
  std::size_t roomBytes() const;

  shared::Engine& engine_;
  shared::ReadingProbe& reading_;
  const Place place_;
  const std::optional<Algorithm> forced_;
  std::vector<plan::Partners> all_;  ///< what each rank asks for
  Algorithm taken_ = Algorithm::kEager;
};

}  // namespace popdist::context
