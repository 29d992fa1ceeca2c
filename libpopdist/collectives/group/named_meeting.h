// SPDX-License-Identifier: Apache-2.0
// One meeting of a group's members, from this instance's call to its answer. The member with the lowest index
// leads: the others send it their proposals, and it answers all with everybody's offers. Nothing here waits,
// and the door's lock is held in every call.
//
//   member → leader: kCome …        leader → member: kMade, or kFailed
//   member → leader: kLate          leader → member: kFailed, with the names of those that are missing
//   leader → missing member: kAsk   that member, if it has other members under this name: kFailed
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "libpopdist/collectives/group/proposal.h"
#include "libpopdist/collectives/messages/transport/tcp/sealed_frames.h"

namespace popdist::group {

enum class DoorMessage : std::uint8_t {
  kCome = 1,  ///< a proposal
  kAsk,       ///< a proposal without offers
  kLate,      ///< nothing
  kMade,      ///< the group's number, the offers of all
  kFailed,    ///< code, instance or -1, text
};

pop::contract::Frame failedFrame(const context::LinkError& error);

/// A connection that this instance makes to another one's door: tries until there is one.
class Visit {
 public:
  using Dial = std::function<pop::Result<transport::Dialler>(int instance)>;
  using Advance = std::function<pop::Result<std::optional<transport::AcceptedStream>>(
      transport::Dialler& dialler, int instance)>;
  struct Ways {
    Dial dial;
    Advance advance;
  };

  Visit(const Ways& ways, int instance, pop::contract::Frame first)
      : ways_(ways), instance_(instance), first_(std::move(first)) {}

  /// True: the stream is up, and the first frame sent.
  bool isUp(transport::SocketSleeper& sleeper);
  std::optional<pop::contract::Frame> next(transport::SocketSleeper& sleeper);
  void send(pop::contract::Frame frame) {
    if (stream_) stream_->send(std::move(frame));
  }
  bool wasUp() const { return was_up_; }
  /// The reason why the last try failed.
  const pop::Status& trouble() const { return trouble_; }
  /// No socket can wake who waits for the next try.
  bool triesAgainSoon() const { return !dialler_ && !stream_; }

 private:
  using Clock = std::chrono::steady_clock;

  const Ways& ways_;
  const int instance_;
  const pop::contract::Frame first_;
  std::optional<transport::Dialler> dialler_;
  std::optional<transport::SealedFrames> stream_;
  Clock::time_point next_try_{};
  std::chrono::microseconds pause_{500};
  bool was_up_ = false;
  pop::Status trouble_;
};

class NamedMeeting {
 public:
  using TakeNumber = std::function<int()>;

  /// `ways` and `own` outlive it.
  NamedMeeting(const Visit::Ways& ways, const Proposal& own, int instance, TakeNumber take_number);

  const Proposal& own() const { return own_; }
  bool leads() const { return own_.leader() == instance_; }

  /// Another member, which has `theirs`, has come to this one's door.
  void welcome(int instance, Proposal theirs, transport::SealedFrames stream);
  /// Does all that can be done now. `is_long`: it has waited for so long that others are asked.
  void turn(transport::SocketSleeper& sleeper, bool is_long);
  bool isOver() const { return failure_.has_value() || (made_ && guests_.empty()); }
  /// Proposals under its name are for a later meeting.
  bool isDecided() const { return failure_.has_value() || made_; }
  bool triesAgainSoon() const;

  /// The time is up. The leader is asked who is missing, unless `is_last`: it has not answered either.
  void timeIsUp(bool is_last);
  /// Ends it for this member, and tells those that have come.
  void fail(const context::LinkError& error);

  const context::LinkError* failure() const { return failure_ ? &*failure_ : nullptr; }
  int number() const { return number_; }
  context::Link::Values takeOffers() { return std::move(offers_); }

 private:
  struct Guest {
    int instance;
    transport::SealedFrames stream;
  };

  void lead(transport::SocketSleeper& sleeper, bool is_long);
  void follow(transport::SocketSleeper& sleeper);
  void hear(std::list<Guest>::iterator guest, const pop::contract::Frame& frame);
  void askMissing(transport::SocketSleeper& sleeper);
  void make();
  bool failsBy(const pop::contract::Frame& frame);
  bool accept(const pop::contract::Frame& frame);
  context::LinkError whoIsMissing() const;

  const Visit::Ways& ways_;
  const Proposal& own_;
  const int instance_;
  const TakeNumber take_number_;
  std::map<int, context::Link::Values> come_;  ///< by instance; the leader's
  std::list<Guest> guests_;                    ///< those that have no answer yet
  std::map<int, Visit> asked_;                 ///< by missing instance
  std::optional<Visit> leader_;                ///< on all other members
  bool said_late_ = false;
  bool made_ = false;
  std::optional<context::LinkError> failure_;
  int number_ = -1;
  context::Link::Values offers_;
};

}  // namespace popdist::group
