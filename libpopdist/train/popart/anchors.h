// SPDX-License-Identifier: Apache-2.0
// Results of a session's run: an outfeed for each anchor, and the shapes of PopART.
#pragma once

#include <vector>

#include "common/base/status.h"
#include "popdist/outfeed.hpp"
#include "popdist/popart_horovod.hpp"

namespace popdist::popart {

/// A run's numbers of batches, of micro-batches of a batch, and of replicas of this instance.
struct Counts {
  int batches = 1;
  int accumulation = 1;
  int replicas = 1;
};

/// kInvalidArgument: numbers that do not fit. kNotFound: an anchor that is none of `values`.
pop::Status check(const DataFlow& data_flow, const Spec& values);

/// One run's anchors.
class Anchors {
 public:
  Anchors(const DataFlow& data_flow, const Spec& values, const Counts& counts);

  /// Micro-batch `index` of batch `batch` has computed `values` on a replica.
  void take(ConstTensorRefs values, int batch, int index, int replica);
  Tensors result();

 private:
  struct Anchor {
    AnchorReturnType type;
    std::size_t position;  ///< among the values
    Spec spec;             ///< the one tensor's
    io::Outfeed outfeed;
  };
  bool wants(const AnchorReturnType& type, int batch, int index) const;

  Counts counts_;
  std::vector<Anchor> anchors_;
};

}  // namespace popdist::popart
