// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/group.h"
#include "popdist/error.hpp"

namespace popdist::group {

void Group::refuse(const CollectiveCall& call) const {
  const CallDescription description = descriptionOf(call);
  if (broken_)
    fail(description, pop::failedPrecondition("an earlier call on this communicator failed: " + *broken_),
         -1);
  fail(description,
       pop::failedPrecondition("this process was forked from the one that owns the communicator"), -1);
}

// In a forked child the other thread is the parent's.
void Group::refuseSecond(const CollectiveCall& call) const {
  if (fork_ != pop::sys::forksOfThisProcess()) refuse(call);
  fail(descriptionOf(call), OneCaller::refusal(), -1);
}

void Group::failCollective(const CallDescription& call, exec::Failure failure) {
  const int blamed = members_->rankToBlame(failure);
  failure.status = members_->naming(blamed, failure.status);
  if (!broken_) {
    broken_ = "in " + call.text + ", " + failure.status.message();
    path_->abort(failure);
  }
  const bool told = failure.heard || failure.peer_instance >= 0;
  if (told && blamed >= 0) context_.toldBy(members_->instanceOf(blamed));
  fail(call, failure.status, blamed < 0 ? -1 : members_->instanceOf(blamed));
}

bool Group::needs(int rank) const {
  const CollectiveCall& call = current_->whole();
  switch (call.operation) {
    case plan::Operation::kBroadcast:
    case plan::Operation::kScatter:
      return rank == call.root;
    case plan::Operation::kReduce:
    case plan::Operation::kGather:
      return this->rank() == call.root;
    case plan::Operation::kSendRecv:
      return rank == call.partners.to || rank == call.partners.from;
    default:
      return true;
  }
}

bool Group::tell(int instance, const exec::Header& note, bool dials) {
  if (!isUsable()) return false;
  if (note.groupOfNote() == members_->number()) return path_->tell(instance, note, dials);
  return caller_.isAlone() && caller_.betweenCalls([&] { return path_->tell(instance, note, dials); });
}

void Group::abandon(const exec::Failure& failure) noexcept {
  if (!isUsable()) return;
  try {
    failCollective({"abort", "the call"}, failure);
  } catch (const std::exception&) {
    return;
  }
}

void Group::fail(const CallDescription& call, const pop::Status& status, int peer) const {
  throw popdist_error(static_cast<ErrorCode>(status.code()), call.text + " on " + nameOfRank(rank()),
                      status.message(), {.rank = rank(), .peer = peer, .operation = call.operation});
}

}  // namespace popdist::group
