// SPDX-License-Identifier: Apache-2.0
// A group of ranks that run collectives together: what Communicator (ranks are instances) and the Pod (ranks
// are replicas, several in a process) have in common. calls/make_group.h makes one.
#pragma once

#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "common/sys/forks.h"
#include "libpopdist/collectives/group/call_path.h"
#include "libpopdist/collectives/group/collective_call.h"
#include "libpopdist/collectives/group/members.h"
#include "libpopdist/collectives/group/one_caller.h"

namespace popdist::group {

class Group {
 public:
  /// At least one of the `members` belongs to this instance. `context` outlives the group.
  Group(const context::ContextState& context, std::unique_ptr<const Members> members,
        std::unique_ptr<CallPath> path)
      : context_(context), members_(std::move(members)), path_(std::move(path)) {
    context_.groups.add(members_->number(), *this);
  }
  ~Group() {
    if (fork_ == pop::sys::forksOfThisProcess()) context_.groups.remove(members_->number());
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const Members& members() const { return *members_; }
  int size() const { return members_->size(); }
  int rank() const { return members_->localRanks().front(); }
  std::string nameOfRank(int rank) const { return members_->nameOfRank(rank); }
  std::chrono::milliseconds timeout() const { return context_.timeout(); }

  /// While it lives, its thread has the group to itself. A second thread's call fails, and the group with it.
  class Turn {
   public:
    Turn(Group& group, const CollectiveCall& call) : group_(group) {
      if (!group.caller_.enter()) [[unlikely]]
        group.refuseSecond(call);
      group.current_ = &call;
    }
    ~Turn() {
      group_.current_ = nullptr;
      group_.caller_.leave();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Group& group_;
  };

  /// Carries out one collective. Throws popdist_error; the group is then unusable.
  void run(const CollectiveCall& call) try {
    const Turn turn(*this, call);
    checkUsable(call);
    if (!path_->run(call)) [[unlikely]]
      failCollective(descriptionOf(call), path_->takeFailure());
    confirmOneCaller(call);
  } catch (const std::bad_alloc&) {
    failCollective(descriptionOf(call), {.status = {pop::Code::kResourceExhausted, "out of memory"}});
  }

  bool isUsable() const { return !broken_ && fork_ == pop::sys::forksOfThisProcess(); }
  /// Throws if an earlier call failed, or in a forked child.
  void checkUsable(const CollectiveCall& call) const {
    if (!isUsable()) [[unlikely]]
      refuse(call);
  }
  /// At the end of a turn: throws like run() if another thread has called meanwhile.
  void confirmOneCaller(const CollectiveCall& call) {
    if (caller_.hadSecond()) [[unlikely]]
      failCollective(descriptionOf(call), {.status = OneCaller::refusal()});
  }
  /// Throws like run() if a rank has aborted. Call it before writing to other ranks' memory and after reading
  /// it: a rank that aborts has its memory back.
  void confirm(const CollectiveCall& call) {
    if (path_->peerIsAborting()) failCollective(descriptionOf(call), path_->takeFailure());
  }
  /// Like fail(), and makes the group unusable and tells the other ranks.
  [[noreturn]] void failCollective(const CallDescription& call, exec::Failure failure);
  /// Throws popdist_error; what() names the call, rank, instance and host.
  [[noreturn]] void fail(const CallDescription& call, const pop::Status& status, int peer) const;

  /// The call that this thread is in, in words.
  std::string currentCall() const { return current_ == nullptr ? "" : descriptionOf(current_->whole()).text; }
  /// In a call of this thread: its caller has asked to end it.
  bool isStopped() const {
    const std::stop_token* const stop = current_ == nullptr ? nullptr : current_->whole().stop;
    return stop != nullptr && stop->stop_requested();
  }
  /// No other thread of this process has ever called on it, and if none has, this one has made it.
  bool isCalledByThisThreadAlone() const { return caller_.isAlone(); }
  /// The number of calls on it that have begun, as far as they go by messages.
  std::uint64_t callsBegun() const { return path_->callsBegun(); }
  /// As CallPath's, in a call of this thread.
  exec::Header note() const { return path_->note(); }
  /// In a call of this thread: it cannot end before `rank` makes it, too.
  bool needs(int rank) const;
  /// Sends `note` to an instance on another host, in a call of this thread or, where it alone calls, between
  /// calls. False: that is not possible now.
  bool tell(int instance, const exec::Header& note, bool dials);
  /// Like failCollective() between calls, but for throwing: is for the others.
  void abandon(const exec::Failure& failure) noexcept;

  /// Gives access to what the path reports between calls.
  CallPath& path() { return *path_; }

 private:
  [[noreturn]] void refuse(const CollectiveCall& call) const;
  [[noreturn]] void refuseSecond(const CollectiveCall& call) const;

  const context::ContextState& context_;
  const std::unique_ptr<const Members> members_;
  const std::unique_ptr<CallPath> path_;  ///< uses members_
  const unsigned fork_ = pop::sys::forksOfThisProcess();
  std::optional<std::string> broken_;  ///< why no further call is possible; ok: calls are possible
  OneCaller caller_;
  const CollectiveCall* current_ = nullptr;  ///< the one under way, of the thread that has the turn
};

}  // namespace popdist::group
