// SPDX-License-Identifier: Apache-2.0
// The fence as the instances of this host see it, docs/spec/instance_wire.md: they enter it by message, or
// through their slots in the host's segment, and leave it with an answer, when their time is up, or when
// somebody has ended.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "agent/rendezvous/fence.h"
#include "agent/rendezvous/host_segment.h"
#include "common/base/loop.h"
#include "common/ports/fence_bytes.h"

namespace pop::agent {

struct FenceError {
  Code code;
  int instance;  ///< at fault, or -1
  std::string message;
};

/// The connected instances, as their fence needs them.
class FenceMembers {
 public:
  virtual ~FenceMembers() = default;
  virtual bool readsAnswers(int instance) const = 0;  ///< it has taken all that it was sent
  virtual void fenceReached(PutValues values) = 0;    ///< all of this host are inside
  virtual void fenceReleased(int instance) = 0;       ///< to be told by message
  virtual void fenceFailed(int instance, const FenceError& error) = 0;
};

class HostFence {
 public:
  /// A fence of `instances`, which are all of the job or not. Everything passed by reference outlives this.
  HostFence(Loop& loop, HostSegment& segment, FenceMembers& members, std::set<int> instances,
            bool all_are_here);
  ~HostFence();
  HostFence(const HostFence&) = delete;
  HostFence& operator=(const HostFence&) = delete;

  void put(int instance, std::string key, std::string value) {
    fence_.put(instance, std::move(key), std::move(value));
  }
  std::optional<std::string> get(const std::string& key) const { return fence_.get(key); }
  std::vector<std::string> getAll(const std::string& prefix) const { return fence_.getAll(prefix); }

  // ---- what an instance does

  void join(int instance);   ///< it is connected; the segment exists
  void leave(int instance);  ///< its connection is closed
  /// By message. False: it is inside already.
  bool enter(int instance, std::chrono::milliseconds timeout, std::string tag);
  void look(int instance);  ///< an instance has entered through a slot
  /// The deadline of an entry in its slot has passed, unless it has been answered in the meantime.
  void late(int instance, const std::string& entry);

  // ---- what comes from elsewhere

  void release(const PutValues& values);
  void breakBy(const EndNotice& end_notice);  ///< everybody inside, and who enters from now on, gets an error

 private:
  struct Member {
    std::uint32_t entry = 0;  ///< in its slot: the last one that is known here
    bool in_slot = false;     ///< that is how it is inside, and where it is answered
    TimerId timer{};          ///< only when it has entered by message
    bool gave_up = false;     ///< its last fence timed out: it was there, others were not
  };

  bool isInside(int instance) const { return fence_.inside().contains(instance); }
  bool takeEntries();
  void settle(int newest);
  void reach();
  void timeIsUp(int instance);
  void timedOut(int instance);
  FenceError whoIsMissing(int instance) const;
  bool gaveUp(int instance) const;
  void fail(const FenceError& error);
  void answer(int instance, Member& member, const std::optional<FenceError>& error);
  void wakeWaiters();

  Loop& loop_;
  HostSegment& segment_;
  FenceMembers& members_;
  const std::set<int> instances_;
  const bool all_are_here_;
  Fence fence_;
  FenceBytes bytes_{FenceBytes::kMost};  ///< since a fence was released, where other hosts are told
  std::map<int, Member> connected_;
  std::optional<FenceError> broken_;  ///< by who has ended first
  bool waiters_answered_ = false;     ///< in slots, and not woken yet
};

}  // namespace pop::agent
