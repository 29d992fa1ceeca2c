// SPDX-License-Identifier: Apache-2.0
// The batches of one replica, one after the other, without threads or queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/src/io/shard.h"
#include "popdist/io.hpp"

namespace popdist::io {

class BatchReader {
 public:
  /// kInvalidArgument names the option that does not fit the dataset.
  static pop::Result<BatchReader> create(std::shared_ptr<const Dataset> dataset,
                                         const InfeedOptions& options);

  std::size_t stepsPerEpoch() const;

  void startEpoch(std::uint64_t epoch);

  /// Reads the epoch's next batch into `batch`, reusing its memory; at most stepsPerEpoch() times an epoch.
  /// Asks `cancelled` before each sample and stops at once, with `batch` half filled, when that is true.
  /// Lets through what the dataset throws.
  void read(Batch& batch, const std::function<bool()>& cancelled);

 private:
  BatchReader(std::shared_ptr<const Dataset> dataset, const InfeedOptions& options);

  std::shared_ptr<const Dataset> dataset_;
  Shard shard_;
  std::uint64_t seed_;
  Sharding sharding_;
  std::vector<std::uint32_t> samples_;  // of the epoch, this replica's only
  std::uint64_t epoch_ = 0;
  std::size_t step_ = 0;
};

}  // namespace popdist::io
