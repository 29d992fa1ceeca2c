// SPDX-License-Identifier: Apache-2.0
// One who follows a job's records: which come next, and how many may be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"
#include "runner/store/record_store.h"

namespace pop::runner {

/// Opens the records with the first credit: one without costs nothing.
class Follower {
 public:
  Follower(std::string directory, const ::popdist::v1::Follow& order);

  /// Ignores what is not positive.
  void addCredit(std::int64_t bytes);

  /// There may be records behind those that were there so far.
  void look() { looks_ = true; }

  /// Moves the next records to `into`, as far as there are any and credit lasts: until they cost about
  /// `batch_bytes`, and at most kMostBatchBytes where it is not one record. The last one may cost more than
  /// there is credit. An error, such as kDataLoss: they cannot be read further.
  Status take(std::size_t batch_bytes, ::popdist::v1::Records& into);

  /// take() may move something.
  bool mayHaveMore() const { return credit_ > 0 && (looks_ || held_); }

  /// True if it wants only the records that existed when it was ordered.
  bool isBounded() const { return until_.has_value(); }

  /// True if all have been taken: those up to its bound, or of a job that has no more. Needs no credit.
  Result<bool> isAtEnd();

 private:
  Result<bool> hold();

  const std::string directory_;
  const std::uint64_t from_;
  const Reads reads_;
  std::optional<std::uint64_t> until_;  ///< the last record that is wanted
  std::int64_t credit_ = 0;
  bool looks_ = true;  ///< the last look has not found the end
  std::optional<RecordReader> reader_;
  std::optional<Record> held_;  ///< the next one
};

/// Limit for the records of one message, with their cost.
inline constexpr std::size_t kMostBatchBytes = 1 << 20;

}  // namespace pop::runner
