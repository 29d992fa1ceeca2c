// SPDX-License-Identifier: Apache-2.0
// A training's program, by the few numbers that its speed depends on. examples/pods has some of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pop::pod::predict {

/// Statistics that groups of replicas add in every micro-batch.
struct BatchNorm {
  int layers = 0;  ///< each has an all-reduce forward, and one backward
  int span = 1;    ///< replicas of a group; 1: none is needed
  std::uint64_t statistics_bytes = 0;

  int collectives() const { return span > 1 ? 2 * layers : 0; }
};

struct Training {
  std::string chip;  ///< on which its times were measured
  int ipus_per_replica = 1;
  int stages = 1;                  ///< of the pipeline; 1: there is none
  double samples_per_element = 1;  ///< of a batch, where an element is a pack of several
  std::int64_t micro_batch = 1;    ///< elements, of micro_batch_s
  std::int64_t gradient_accumulation = 1;
  std::uint64_t gradient_bytes = 0;  ///< of a replica
  std::int64_t collectives = 1;      ///< into which a step's gradients are divided: 1 if they are merged
  BatchNorm batch_norm;
  double host_io_s = 0;  ///< of a step, that nothing hides

  /// Times that fit() learns if they are missing.
  std::optional<double> micro_batch_s;  ///< of a slot, without batch norm's exchanges
  std::optional<double> fixed_s;        ///< of a step: the weight update, and all that does not scale
  std::optional<double> gateway_s;  ///< a collective's overhead over GW-Links, times 2(M-1)/M on M domains
};

}  // namespace pop::pod::predict
