// SPDX-License-Identifier: Apache-2.0
// Meeting of the ranks that share a host's segment: each fills its call slot, waits for the other ranks'
// slots and compares them. A rank that fails raises the abort flag.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libpopdist/collectives/messages/exec/executor.h"
#include "libpopdist/collectives/plan/stage_layout.h"
#include "libpopdist/collectives/shared/control_block.h"
#include "libpopdist/collectives/shared/pieces.h"
#include "libpopdist/collectives/shared/waiter.h"

namespace popdist::shared {

/// A rank and the shared memory it works in.
struct Place {
  transport::SegmentView segment;
  ControlBlock control_block;
  plan::StageLayout layout;
  int rank = 0;
  int ranks = 1;
  int first_rank = 0;           ///< number that other ranks use for rank 0 here, for error texts
  bool has_all_of_host = true;  ///< these ranks are all instances of this host
  int host_cores = 0;           ///< see Waiter::Setting
  exec::RankNames names{};
};

/// A call, as all ranks must make it.
struct Call {
  std::uint64_t key = 0;  ///< CallKey::packed
  std::uint64_t count = 0;
  std::string_view tensor;
};

struct Buffers {
  const void* input = nullptr;
  void* output = nullptr;
  Offer offer = Offer::kNo;                  ///< kYes: other ranks may work in them
  std::span<const std::byte> inline_data{};  ///< published to all ranks; at most kInlineBytes
  const Pieces* pieces =
      nullptr;  ///< replaces input and output; with Offer::kPieces they are listed in a table
};

class Meeting {
 public:
  Meeting(Place place, exec::PeerMonitor& monitor, bool oversubscribed);

  const Place& place() const { return place_; }
  Waiter& waiter() { return waiter_; }

  /// Begins a user's call. All calls made here until the next start() share `timeout`.
  void start(std::chrono::milliseconds timeout) { waiter_.start(timeout); }

  /// A call that carries at most kInlineBytes. When it returns true, data() of every rank can be read.
  bool exchange(const Call& call, const void* data, std::size_t bytes);
  /// Announces a call and waits until all ranks are in it. Then their offers are known.
  bool meet(const Call& call, const Buffers& buffers);

  /// Between calls: returns true when another rank is in the next call, false when `there()` is true or
  /// `limit` has passed.
  bool awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit);

  /// A call of several parts is in progress from the first begin() to end().
  void begin() {
    if (!std::exchange(begun_, true)) ++call_number_;
  }
  void end() { begun_ = met_ = false; }
  bool hasMet() const { return met_; }  ///< in the call in progress

  /// A rank's slot of the last call. Valid after the meeting.
  const CallSlot& callSlot(int rank) const { return place_.control_block.callSlot(rank, parity()); }
  /// The inline data that the rank wrote.
  const std::byte* data(int rank) const { return callSlot(rank).data.data(); }
  bool anyOffers(Offer offer) const;
  /// The rank's input is in the segment.
  bool isInputMapped(int rank) const { return callSlot(rank).input != kPrivate; }
  /// The rank's output is in the segment, so others can write to it.
  bool canBeGiven(int rank) const { return callSlot(rank).output != kPrivate; }
  /// True if a buffer of this rank is in the segment. May be called at any time.
  bool isMapped(const void* buffer) const { return place_.segment.offsetOf(buffer) != kPrivate; }

  std::string nameOf(int rank) const { return exec::nameOfRank(place_.names, place_.first_rank + rank); }
  /// Records that `rank` contradicts this call; `why` is the error text.
  void blame(int rank, const std::string& why);
  /// The reason after one of the above returned false, or after blame(). Raises the abort flag.
  exec::Failure takeFailure() { return abort(mismatch_.status.ok() ? waiter_.failure() : mismatch_); }
  exec::Failure abort(exec::Failure failure);

 private:
  std::uint64_t parity() const { return call_number_ & 1; }
  CallSlot& ownCallSlot(const Call& call);
  bool awaitAll(const Call& call);
  bool matches(const CallSlot& theirs, const Call& call, int rank);
  bool anyoneAhead() const;
  std::string whereIs(int rank) const;
  std::vector<int> absentRanks() const;  ///< ranks that have not entered this call

  const Place place_;
  Waiter waiter_;
  exec::Failure mismatch_;
  std::uint64_t call_number_ = 0;  ///< the last call's; calls count from 1
  bool begun_ = false;
  bool met_ = false;
};

}  // namespace popdist::shared
