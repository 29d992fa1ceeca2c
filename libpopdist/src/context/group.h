// SPDX-License-Identifier: Apache-2.0
// A group of ranks that run collectives together, with its connections: what Communicator (ranks are
// instances) and the Pod (ranks are replicas, several in a process) have in common.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/sys/forks.h"
#include "libpopdist/src/context/backend_group.h"
#include "libpopdist/src/context/call_error.h"
#include "libpopdist/src/context/context_state.h"
#include "libpopdist/src/context/hierarchical_calls.h"
#include "libpopdist/src/context/shared_calls.h"
#include "libpopdist/src/exec/executor.h"
#include "libpopdist/src/transport/connections.h"

namespace popdist::context {

using pop::sys::forksOfThisProcess;

/// How a group's ranks exchange data: one rank an instance, through the memory that those of a host share and
/// by messages between hosts; by messages alone, of any number of ranks in each; or as a plugin does it, one
/// rank an instance.
enum class GroupKind : std::uint8_t { kNative, kMessages, kBackend };

struct HostControlBlock;

class Group {
 public:
  ~Group();

  /// Collective over all instances of the job; `instance_of_rank[r]` is the instance that holds rank r. An
  /// instance that holds none gets nullptr. Throws popdist_error.
  static std::unique_ptr<Group> create(ContextState& context, std::vector<int> instance_of_rank,
                                       GroupKind kind);

  /// Whether a group of so many instances, all of the job's, would share one host's memory: what isShared()
  /// says of it. Throws popdist_error.
  static bool wouldBeShared(const ContextState& context, int instances);

  int size() const { return static_cast<int>(instance_of_rank_.size()); }
  const std::vector<int>& localRanks() const { return local_ranks_; }
  /// Some ranks are reached over TCP.
  bool overNetwork() const { return connections_->overNetwork(); }

  /// One local rank's part of a call; parts in the order of localRanks().
  struct Part {
    const plan::Plan* plan = nullptr;
    const void* input = nullptr;
    void* output = nullptr;
  };

  /// Runs one collective of a group whose ranks are instances of this host, through their shared memory.
  /// Throws popdist_error; the group is then unusable.
  void runShared(const CollectiveCall& call) { runShared(call, call); }
  /// The same as a part of `whole`, which is what all ranks must have called.
  void runShared(const CollectiveCall& call, const CollectiveCall& whole) {
    // Not checkUsable(): what is in the way of the shortest calls makes them a third longer.
    if (!isUsable()) [[unlikely]]
      refuse(descriptionOf(whole));
    if (!shared_->run(call, whole)) [[unlikely]]
      failCollective(descriptionOf(whole), shared_->takeFailure());
  }
  /// Throws as calls do that come after one that failed, or in a forked child. For what comes before the
  /// group learns of a call.
  void checkUsable(const CollectiveCall& call) const {
    if (!isUsable()) [[unlikely]]
      refuse(descriptionOf(call));
  }
  bool isUsable() const { return !broken_ && fork_ == forksOfThisProcess(); }
  /// Throws as runShared() when a rank has given up by now: before others' memory is written to, and after it
  /// was read, since whoever gives up has it back.
  void confirmShared(const CollectiveCall& call) {
    if (shared_->peerIsGivingUp()) failCollective(descriptionOf(call), shared_->takeFailure());
  }
  /// The same on a backend's plugin.
  void runOnBackend(const CollectiveCall& call);
  /// The same of a group whose ranks are instances of several hosts: in each host's memory and by messages
  /// between the hosts. False: the call is not for that, and this host's members are in the same one;
  /// its timeout is what is left of it.
  bool runOverHosts(CollectiveCall& call);
  bool isOnBackend() const { return backend_ != nullptr; }

  std::chrono::milliseconds timeout() const { return context_.timeout(); }
  bool isShared() const { return shared_ != nullptr; }

  /// What calls by messages are to be carried out with, where it can be done.
  const std::optional<plan::Algorithm>& forcedByMessages() const { return forced_by_messages_; }
  /// With which algorithm the last call was carried out: for who measures.
  const char* algorithmTaken() const { return shared_ ? shared_->algorithmTaken() : taken_; }
  void setAlgorithmTaken(const char* name) { taken_ = name; }

  /// Runs one collective by messages. `call.sequence` is filled in here. Throws popdist_error; the group is
  /// then unusable. Or std::bad_alloc: failCollective() is to follow.
  void run(exec::Call call, std::span<const Part> parts, std::chrono::milliseconds timeout);

  /// As fail(), and the group is unusable from now on.
  [[noreturn]] void failCollective(const CallDescription& call, exec::Failure failure);

  /// From now on calls wait until then, and not for their own timeouts; empty: for those again.
  void setDeadline(const exec::MovingDeadline& deadline);

  /// Between calls: returns when another rank is in the next one (true), where that can be seen (isShared()),
  /// when `there()` is true (false), or when `limit` has passed (false where it can be seen, else true: one
  /// may be).
  bool awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit);
  /// From any thread: what `there()` of awaitNext looks at has changed.
  void wake();

  int instanceOf(int rank) const { return instance_of_rank_[static_cast<std::size_t>(rank)]; }

  /// A rank in words: with its instance, and the host as far as it is known.
  std::string nameOfRank(int rank) const;

  /// Throws CallError: what() says of which call, rank, instance and host it is.
  [[noreturn]] void fail(const CallDescription& call, const pop::Status& status, int peer) const;

 private:
  exec::Failure execute(const exec::Call& call, std::span<const Part> parts,
                        std::chrono::milliseconds timeout);
  std::function<std::optional<exec::Failure>()> heardOnHost();
  int rankToBlame(const exec::Failure& failure) const;
  pop::Status naming(int blamed, const pop::Status& status) const;
  std::string placeOf(int rank) const;
  void joinControlBlocks(const std::vector<HostControlBlock>& control_blocks,
                         std::optional<plan::SharedAlgorithm> forced);
  static std::unique_ptr<Group> createOnBackend(ContextState& context, std::vector<int> instance_of_rank);
  /// Makes this member's end on the plugin, and says where it is.
  pop::Result<std::string> joinBackend(int number);
  [[noreturn]] void refuse(const CallDescription& call) const;
  std::string nameOfInstance(int instance) const;
  Group(ContextState& context, std::vector<int> instance_of_rank, std::vector<int> local_ranks);

  ContextState& context_;
  const std::vector<int> instance_of_rank_;
  const std::vector<int> local_ranks_;
  const bool oversubscribed_;  ///< this host's instances outnumber its usable cores
  /// Numeric address, of ranks that are reached over a network or on a backend; else "".
  std::vector<std::string> host_of_rank_;
  std::vector<exec::Heard> heard_;  ///< of each rank, by messages
  std::unique_ptr<transport::Connections> connections_;
  std::unique_ptr<exec::PeerMonitor> monitor_;
  std::unique_ptr<exec::PeerMonitor> neighbour_monitor_;  ///< numbers the ranks of this host from 0
  std::unique_ptr<SharedCalls> shared_;                   ///< needs neighbour_monitor_
  std::unique_ptr<HierarchicalCalls> over_hosts_;         ///< likewise, and connections_
  std::unique_ptr<BackendGroup> backend_;                 ///< needs monitor_
  const unsigned fork_ = forksOfThisProcess();
  std::atomic<std::uint32_t> told_{0};  ///< where messages are exchanged: changed by wake(), for awaitNext();
                                        ///< a forked child has nothing to destroy that a thread waits on
  exec::MovingDeadline moving_deadline_;
  std::uint64_t calls_ = 0;
  std::optional<plan::Algorithm> forced_by_messages_;
  const char* taken_ = "";
  std::optional<std::string> broken_;  ///< why no further call is possible
};

}  // namespace popdist::context
