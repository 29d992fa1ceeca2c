// SPDX-License-Identifier: Apache-2.0
// How a group's collectives are carried out: chosen once, when the group is made. There are three, in calls/:
// through the memory that all ranks share, by messages, and both over several hosts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "libpopdist/src/exec/executor.h"
#include "libpopdist/src/group/collective_call.h"

namespace popdist::group {

class CallPath {
 public:
  CallPath() = default;
  virtual ~CallPath() = default;
  CallPath(const CallPath&) = delete;
  CallPath& operator=(const CallPath&) = delete;

  /// This rank's part of one collective. False: takeFailure() says why, and abort() follows. Or
  /// std::bad_alloc: likewise.
  virtual bool run(const CollectiveCall& call) = 0;
  virtual exec::Failure takeFailure() = 0;
  /// Tells the other ranks, as far as they can hear it. No call follows.
  virtual void abort(const exec::Failure& failure) = 0;
  /// From now on calls wait until then, and not for their own timeouts; empty: for those again.
  virtual void setDeadline(const exec::MovingDeadline& deadline) = 0;

  /// With which algorithm the last call was carried out: for who measures.
  virtual const char* algorithmTaken() const { return ""; }
  /// All ranks are on this host and share its memory; what they do is seen at once.
  virtual bool sharesMemory() const { return false; }
  /// Another rank has given up, or is about to, as far as that is seen between calls: takeFailure() says why.
  virtual bool peerIsAborting() { return false; }

  /// Between calls: returns when another rank is in the next one (true), where that is seen, when `there()`
  /// is true (false), or when `limit` has passed (false where it is seen, else true: one may be).
  virtual bool awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit);
  /// From any thread: what `there()` of awaitNext looks at has changed.
  virtual void wake();

 private:
  std::atomic<std::uint32_t> wake_count_{0};  ///< changed by wake(); a forked child has nothing to destroy
                                              ///< that a thread waits on
};

}  // namespace popdist::group
