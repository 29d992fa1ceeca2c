// SPDX-License-Identifier: Apache-2.0
// How ranks that share a host's segment meet: each writes a note of its call, waits for the others' and
// compares them. And how one that gives up tells the others.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libpopdist/src/exec/executor.h"
#include "libpopdist/src/plan/stage_layout.h"
#include "libpopdist/src/shared/control_block.h"
#include "libpopdist/src/shared/pieces.h"
#include "libpopdist/src/shared/waiter.h"

namespace popdist::shared {

/// Where a rank is, and what it has there.
struct Place {
  transport::SegmentView segment;
  ControlBlock control_block;
  plan::StageLayout layout;
  int rank = 0;
  int ranks = 1;
  int first_rank = 0;           ///< what others call rank 0 here: failures speak of those numbers
  bool has_all_of_host = true;  ///< these ranks are all instances of this host
  int host_cores = 0;           ///< as Waiter::Setting
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
  Offer offer = Offer::kNo;                  ///< whether others may work in them
  std::span<const std::byte> inline_data{};  ///< for everybody to read: at most kInlineBytes
  const Pieces* pieces = nullptr;            ///< instead of input and output; kPieces: listed
};

class Meeting {
 public:
  Meeting(Place place, exec::PeerMonitor& monitor, bool oversubscribed);

  const Place& place() const { return place_; }
  Waiter& waiter() { return waiter_; }

  /// A user's call begins: what it takes, which may be several calls here, waits for so long together.
  void start(std::chrono::milliseconds timeout) { waiter_.start(timeout); }

  /// A call of at most kInlineBytes: everybody's bytes are there for everybody when it returns true.
  bool exchange(const Call& call, const void* data, std::size_t bytes);
  /// Tells the others of a call and waits until all are in it: then their offers are known.
  bool meet(const Call& call, const Buffers& buffers);

  /// Between calls: returns when another rank is in the next one (true), or when `there()` is true or `limit`
  /// has passed (false).
  bool awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit);

  /// A call of several parts is under way from the first begin() to end().
  void begin() {
    if (!std::exchange(begun_, true)) ++call_number_;
  }
  void end() { begun_ = met_ = false; }
  bool hasMet() const { return met_; }  ///< in the call that is under way

  /// Of a rank, in the call that was made last. After the meeting.
  const CallSlot& callSlot(int rank) const { return place_.control_block.callSlot(rank, parity()); }
  /// What it has written there.
  const std::byte* data(int rank) const { return callSlot(rank).data.data(); }
  bool anyOffers(Offer offer) const;
  /// Its input is where everybody can reach it.
  bool isInputMapped(int rank) const { return callSlot(rank).input != kPrivate; }
  /// The others can write to its output.
  bool canBeGiven(int rank) const { return callSlot(rank).output != kPrivate; }
  /// Whether a buffer of our own lies where everybody can reach it. At any time.
  bool isMapped(const void* buffer) const { return place_.segment.offsetOf(buffer) != kPrivate; }

  std::string nameOf(int rank) const { return exec::nameOfRank(place_.names, place_.first_rank + rank); }
  /// What `rank` has said contradicts the call, in the way of `why`.
  void blame(int rank, const std::string& why);
  /// After one of the above was false, or blame(). The others are told.
  exec::Failure takeFailure() { return abort(mismatch_.status.ok() ? waiter_.failure() : mismatch_); }
  exec::Failure abort(exec::Failure failure);

 private:
  std::uint64_t parity() const { return call_number_ & 1; }
  CallSlot& ownCallSlot(const Call& call);
  bool awaitAll(const Call& call);
  bool matches(const CallSlot& theirs, const Call& call, int rank);
  bool anyoneAhead() const;
  std::string whereIs(int rank) const;
  std::vector<int> absentRanks() const;  ///< that have not come to this call

  const Place place_;
  Waiter waiter_;
  exec::Failure mismatch_;
  std::uint64_t call_number_ = 0;  ///< of all calls so far
  bool begun_ = false;
  bool met_ = false;
};

}  // namespace popdist::shared
