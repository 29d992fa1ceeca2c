// SPDX-License-Identifier: Apache-2.0
// The sockets at which this instance's members of a group meet without the other instances: one that listens,
// once, and a connection to the leader of each meeting while it lasts. Several threads may be in meetings;
// one of them at a time moves the sockets of all.
//
// Within a job of one host the door has an abstract name that only the job's instances can compute; over
// hosts it has a port, which every instance publishes when its context is made. Whoever comes proves that it
// belongs to the job (messages/transport/tcp/handshake.h).
#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libpopdist/collectives/group/members.h"
#include "libpopdist/collectives/group/named_meeting.h"
#include "libpopdist/collectives/messages/transport/tcp/reception.h"

namespace popdist::group {

class Door {
 public:
  /// `context` outlives it. `instances` is their number in the job.
  Door(const context::ContextState& context, int instances);

  /// Over hosts: puts this instance's address, for all to learn() after the next fence.
  context::LinkError publish();
  context::LinkError learn();

  struct Agreed {
    int number = -1;  ///< the group's, the same on all members, and of no other group that they have
    context::Link::Values offers;
  };
  /// Returns when every member is in the same call, with the offers of all. `members` are those of `own`. Any
  /// thread, within the context's timeout.
  context::LinkError meet(const Proposal& own, const Members& members, Agreed& agreed);

 private:
  using Clock = pop::sys::AwakeClock;

  struct Caller {
    int instance;
    transport::SealedFrames stream;
    std::optional<Proposal> wants{};
    bool only_asks = false;
    bool is_done = false;
  };

  bool overHosts() const { return context_.num_local_instances < instances_; }
  std::string nameOf(int instance) const;
  pop::Status open();
  pop::Status listen();
  pop::Result<transport::Dialler> dial(int instance) const;
  pop::Result<std::optional<transport::AcceptedStream>> advance(transport::Dialler& dialler, int instance);

  context::LinkError await(NamedMeeting& meeting, const Members& members, std::unique_lock<std::mutex>& lock);
  void turn(const NamedMeeting& own, std::unique_lock<std::mutex>& lock, bool is_long);
  void admit(Caller& caller);
  void compare(Caller& caller, NamedMeeting& meeting);
  void refuse(Caller& caller, NamedMeeting& meeting);
  NamedMeeting* undecided(const std::string& name);
  int takeNumber();
  void wake();

  const context::ContextState& context_;
  const int instances_;
  transport::Key job_{};
  std::mutex mutex_;  ///< guards all that follows; not held while a thread sleeps
  std::condition_variable changed_;
  bool is_moved_ = false;  ///< by a thread that may sleep on the sockets
  transport::SocketSleeper sleeper_;
  pop::sys::Pipe wake_;
  std::optional<transport::Reception> reception_;
  transport::SocketAddress own_address_;  ///< over hosts
  std::map<int, std::string> addresses_;  ///< likewise, by instance
  const Visit::Ways ways_;
  std::list<Caller> callers_;  ///< for no meeting of this instance yet
  std::list<NamedMeeting*> meetings_;
  unsigned numbers_taken_ = 0;
};

}  // namespace popdist::group
