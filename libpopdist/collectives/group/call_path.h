// SPDX-License-Identifier: Apache-2.0
// A path for a group's collectives; chosen once, when the group is made. calls/ has three: through memory
// that all ranks share, by messages, and both combined over several hosts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "libpopdist/collectives/group/collective_call.h"
#include "libpopdist/collectives/messages/exec/executor.h"

namespace popdist::group {

class CallPath {
 public:
  CallPath() = default;
  virtual ~CallPath() = default;
  CallPath(const CallPath&) = delete;
  CallPath& operator=(const CallPath&) = delete;

  /// Carries out this rank's part of one collective. After false (see takeFailure()) or std::bad_alloc,
  /// abort() must follow.
  virtual bool run(const CollectiveCall& call) = 0;
  virtual exec::Failure takeFailure() = 0;
  /// Tells the other ranks, as far as they can be reached. No call may follow.
  virtual void abort(const exec::Failure& failure) = 0;
  /// From now on calls wait until this deadline instead of for their own timeouts; empty: for their timeouts
  /// again.
  virtual void setDeadline(const exec::MovingDeadline& deadline) = 0;

  /// The number of calls that this rank has begun to exchange messages for.
  virtual std::uint64_t callsBegun() const { return 0; }
  /// In a call that waits for messages: the note that says so. Else a header that is no note.
  virtual exec::Header note() const { return {}; }
  /// Sends `note` to the ranks of an instance that messages reach. Between calls, and in the wait of one.
  /// `dials`: also where there is no connection yet. False: that is not possible now.
  virtual bool tell(int /*instance*/, const exec::Header& /*note*/, bool /*dials*/) { return false; }

  /// The algorithm of the last call, for measurements.
  virtual const char* algorithmTaken() const { return ""; }
  /// All ranks are on this host and share its memory, so they see each other's progress at once.
  virtual bool sharesMemory() const { return false; }
  /// True if another rank has aborted or is about to, as far as that is visible between calls. takeFailure()
  /// says why.
  virtual bool peerIsAborting() { return false; }

  /// Between calls: returns true when another rank is in the next call and false when `there()` is true.
  /// After `limit`: false if the path sees other ranks' calls, otherwise true, since one may be in the next
  /// call.
  virtual bool awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit);
  /// From any thread: makes awaitNext() call `there()` again.
  virtual void wake();

 private:
  std::atomic<std::uint32_t> wake_count_{0};  ///< changed by wake(). Not a condition variable: a forked child
                                              ///< could not destroy one that a thread waits on
};

}  // namespace popdist::group
