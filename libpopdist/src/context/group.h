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
#include <utility>
#include <vector>

#include "common/sys/forks.h"
#include "libpopdist/src/context/backend_group.h"
#include "libpopdist/src/context/backends.h"
#include "libpopdist/src/context/forced_way.h"
#include "libpopdist/src/context/hierarchical_calls.h"
#include "libpopdist/src/context/link.h"
#include "libpopdist/src/context/shared_calls.h"
#include "libpopdist/src/context/transport_settings.h"
#include "libpopdist/src/exec/executor.h"
#include "libpopdist/src/transport/connections.h"
#include "popdist/error.hpp"

namespace popdist::context {

/// What the wire carries, and what can be added to any time; 24 days are as good as for ever.
inline constexpr std::chrono::milliseconds kLongestTimeout{INT32_MAX};

/// Shared by everything that belongs to one context.
struct Surroundings {
  std::unique_ptr<Link> link;
  int instance_index = 0;
  int first_local_instance = 0;  ///< of this host, whose instances follow each other
  int num_local_instances = 1;

  bool isLocal(int instance) const {
    return instance >= first_local_instance && instance < first_local_instance + num_local_instances;
  }
  std::atomic<std::chrono::milliseconds::rep> timeout_ms{300 * 1000};
  TransportSettings transport;
  BackendChoice backend{};            ///< that communicators run on; Pods have none of it
  std::optional<ForcedWay> forced{};  ///< of communicators; not there: what the environment says
  int groups_created = 0;             ///< names the next group; every instance creates them in the same order

  std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(timeout_ms.load()); }
};

using pop::sys::forksOfThisProcess;

/// How a group's ranks exchange data: one rank an instance, through the memory that those of a host share and
/// by messages between hosts; by messages alone, of any number of ranks in each; or as a plugin does it, one
/// rank an instance.
enum class Way : std::uint8_t { kNative, kMessages, kBackend };

struct HostBoard;

/// A call of a group, for errors.
struct CallWords {
  std::string operation;  ///< popdist_error::operation()
  std::string text;       ///< with what it moves, and its tensor
};
CallWords wordsOf(const CollectiveCall& call);

/// What calls of a group throw. Callers outside see a popdist_error.
class CallError : public popdist_error {
 public:
  CallError(ErrorCode code, const std::string& call, const std::string& cause, Where where)
      : popdist_error(code, call + ": " + cause, std::move(where)), cause_(cause) {}

  /// what() without the call: for who makes it as a part of another one.
  const std::string& cause() const { return cause_; }

 private:
  std::string cause_;
};

class Group {
 public:
  ~Group();

  /// Collective over all instances of the job; `instance_of_rank[r]` is the instance that holds rank r. An
  /// instance that holds none gets nullptr. Throws popdist_error.
  static std::unique_ptr<Group> create(Surroundings& surroundings, std::vector<int> instance_of_rank,
                                       Way way);

  /// Whether a group of so many instances, all of the job's, would share one host's memory: what isShared()
  /// says of it. Throws popdist_error.
  static bool wouldBeShared(const Surroundings& surroundings, int instances);

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
      refuse(wordsOf(whole));
    if (!shared_->run(call, whole)) [[unlikely]]
      give(wordsOf(whole), shared_->takeFailure());
  }
  /// Throws as calls do that come after one that failed, or in a forked child. For what comes before the
  /// group learns of a call.
  void checkUsable(const CollectiveCall& call) const {
    if (!isUsable()) [[unlikely]]
      refuse(wordsOf(call));
  }
  bool isUsable() const { return !broken_ && fork_ == forksOfThisProcess(); }
  /// Throws as runShared() when a rank has given up by now: before others' memory is written to, and after it
  /// was read, since whoever gives up has it back.
  void confirmShared(const CollectiveCall& call) {
    if (!shared_->confirm()) give(wordsOf(call), shared_->takeFailure());
  }
  /// The same on a backend's plugin.
  void runOnBackend(const CollectiveCall& call);
  /// The same of a group whose ranks are instances of several hosts: in each host's memory and by messages
  /// between the hosts. False: the call is not for that, and this host's members are in the same one;
  /// its timeout is what is left of it.
  bool runOverHosts(CollectiveCall& call);
  bool isOnBackend() const { return backend_ != nullptr; }

  std::chrono::milliseconds timeout() const { return surroundings_.timeout(); }
  bool isShared() const { return shared_ != nullptr; }

  /// What calls by messages are to be carried out with, where it can be done.
  const std::optional<plan::Algorithm>& forcedByMessages() const { return forced_by_messages_; }
  /// With which algorithm the last call was carried out: for who measures.
  const char* algorithmTaken() const { return shared_ ? shared_->algorithmTaken() : taken_; }
  void setAlgorithmTaken(const char* name) { taken_ = name; }

  /// Runs one collective by messages. `call.sequence` is filled in here. Throws popdist_error; the group is
  /// then unusable. Or std::bad_alloc: give() is to follow.
  void run(exec::Call call, std::span<const Part> parts, std::chrono::milliseconds timeout);

  /// As fail(), and the group is unusable from now on.
  [[noreturn]] void give(const CallWords& call, exec::Failure failure);

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
  [[noreturn]] void fail(const CallWords& call, const pop::Status& status, int peer) const;

 private:
  exec::Failure execute(const exec::Call& call, std::span<const Part> parts,
                        std::chrono::milliseconds timeout);
  std::function<std::optional<exec::Failure>()> heardOnHost();
  int rankToBlame(const exec::Failure& failure) const;
  pop::Status naming(int blamed, const pop::Status& status) const;
  std::string placeOf(int rank) const;
  void joinBoards(const std::vector<HostBoard>& boards, std::optional<plan::SharedAlgorithm> forced);
  static std::unique_ptr<Group> createOnBackend(Surroundings& surroundings,
                                                std::vector<int> instance_of_rank);
  /// Makes this member's end on the plugin, and says where it is.
  pop::Result<std::string> joinBackend(int number);
  [[noreturn]] void refuse(const CallWords& call) const;
  std::string nameOfInstance(int instance) const;
  Group(Surroundings& surroundings, std::vector<int> instance_of_rank, std::vector<int> local_ranks);

  Surroundings& surroundings_;
  const std::vector<int> instance_of_rank_;
  const std::vector<int> local_ranks_;
  const bool a_core_each_;  ///< this host's instances do not outnumber its usable cores
  /// Numeric address, of ranks that are reached over a network; else "".
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

/// More elements than this cannot be addressed.
inline std::size_t mostElements(Type type) {
  return static_cast<std::size_t>(PTRDIFF_MAX) / sizeOf(type);
}

/// Throws unless `error` is ok.
void throwIfFailed(const LinkError& error, const char* operation);

}  // namespace popdist::context
