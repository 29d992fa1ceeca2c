// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/replica_messages.h"

#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/calls/messages/message_calls.h"

namespace popdist::pod {

ReplicaMessages::ReplicaMessages(Context& context, const std::vector<int>& instance_of_replica)
    : ReplicaMessages(calls::makeMessageGroup(context.impl().state, instance_of_replica)) {}

void ReplicaMessages::run(const group::CollectiveCall& call,
                          std::span<const calls::MessageRunner::Part> parts, Way way) {
  const group::Group::Turn turn(*group_, call);
  group_->checkUsable(call);
  runner_.nextCall();
  exec::Call message = calls::messageCallOf(call);
  message.folds = way.folds;
  message.sends_empty |= way.sends_empty;
  const exec::Failure failure = runner_.run(message, parts, group_->timeout());
  if (!failure.status.ok()) group_->failCollective(group::descriptionOf(call), failure);
  group_->confirmOneCaller(call);
}

void ReplicaMessages::refuse(plan::Operation call, const pop::Status& why) const {
  group_->fail({nameOf(call), nameOf(call)}, why, -1);
}

void ReplicaMessages::abort(plan::Operation call, const pop::Status& why) {
  group_->failCollective({nameOf(call), nameOf(call)}, {why});
}

}  // namespace popdist::pod
