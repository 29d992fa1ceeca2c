// SPDX-License-Identifier: Apache-2.0
// The calls of a group, and how they fail. How it comes about: group_making.cpp.
#include "libpopdist/src/context/group.h"

#include <algorithm>
#include <utility>

#include "common/sys/awake_clock.h"
#include "common/sys/futex.h"
#include "common/sys/host_name.h"
#include "libpopdist/src/exec/abort_message.h"

namespace popdist::context {

namespace {

CallDescription descriptionOf(const exec::Call& call) {
  return {nameOf(call.key.operation), exec::describeCall(call.key.packed(), call.count, call.tensor)};
}

}  // namespace

Group::~Group() = default;

bool Group::runOverHosts(CollectiveCall& call) {
  if (!over_hosts_) return false;
  // What is forced is about all-reduces only.
  const bool forced = forced_by_messages_ && call.operation == plan::Operation::kAllReduce;
  const plan::HierarchyWay way = forced ? plan::HierarchyWay::kFlat : over_hosts_->wayOf(call);
  checkUsable(call);
  if (way == plan::HierarchyWay::kFlat) {
    if (!over_hosts_->meet(call)) failCollective(descriptionOf(call), over_hosts_->takeFailure());
    call.timeout = over_hosts_->timeLeft();
    return false;
  }
  taken_ = plan::nameOf(way);
  ++calls_;
  if (!over_hosts_->run(call)) failCollective(descriptionOf(call), over_hosts_->takeFailure());
  return true;
}

void Group::runOnBackend(const CollectiveCall& call) {
  checkUsable(call);
  if (const exec::Failure failure = backend_->run(call); !failure.status.ok())
    failCollective(descriptionOf(call), failure);
}

void Group::run(exec::Call call, std::span<const Part> parts, std::chrono::milliseconds timeout) {
  if (!isUsable()) refuse(descriptionOf(call));
  call.sequence = calls_++;
  call.members = size();
  const exec::Failure failure = execute(call, parts, timeout);
  if (!failure.status.ok()) failCollective(descriptionOf(call), failure);
}

void Group::setDeadline(const exec::MovingDeadline& deadline) {
  moving_deadline_ = deadline;
  if (shared_) shared_->setDeadline(deadline);
  if (over_hosts_) over_hosts_->setDeadline(deadline);
  if (backend_) backend_->setDeadline(deadline);
}

// Messages say nothing before they are received: calls that are made every now and then are what there is of
// others. What happens in this process is known at once.
bool Group::awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit) {
  if (shared_) return shared_->awaitNext(there, limit);
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const std::uint32_t seen = told_.load();
    if (there()) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= std::chrono::milliseconds(0)) return true;
    pop::sys::futexWait(told_, seen, left);
  }
}

void Group::wake() {
  if (shared_) return shared_->wake();
  ++told_;
  pop::sys::futexWakeAll(told_);
}

void Group::refuse(const CallDescription& call) const {
  if (broken_)
    fail(call, pop::failedPrecondition("an earlier call on this communicator failed: " + *broken_), -1);
  fail(call, pop::failedPrecondition("this process was forked from the one that has the communicator"), -1);
}

void Group::failCollective(const CallDescription& call, exec::Failure failure) {
  const int blamed = rankToBlame(failure);
  failure.status = naming(blamed, failure.status);
  broken_ = "in " + call.text + ", " + failure.status.message();
  if (shared_) shared_->giveUp(failure);
  if (over_hosts_) over_hosts_->giveUp(failure);
  const bool all_know = failure.peer_instance >= 0 && monitor_->anyFailed();
  if (connections_) connections_->abandon(exec::encodeAbortMessage(local_ranks_.front(), failure), !all_know);
  fail(call, failure.status, blamed < 0 ? -1 : instanceOf(blamed));
}

// Not all who find out what is wrong know where a rank is.
pop::Status Group::naming(int blamed, const pop::Status& status) const {
  if (blamed < 0 || blamed == local_ranks_.front()) return status;
  const std::string instance = "instance " + std::to_string(instanceOf(blamed));
  const std::string& text = status.message();
  for (const char* const after : {" ", ")"}) {
    if (text.find(instance + after) != std::string::npos) return status;
  }
  return {status.code(), text + " (rank " + std::to_string(blamed) + " is " + placeOf(blamed) + ')'};
}

// EndNotices speak of instances.
std::string Group::nameOfInstance(int instance) const {
  const auto rank = std::find(instance_of_rank_.begin(), instance_of_rank_.end(), instance);
  if (rank == instance_of_rank_.end()) return "instance " + std::to_string(instance);
  return nameOfRank(static_cast<int>(rank - instance_of_rank_.begin()));
}

std::string Group::nameOfRank(int rank) const {
  if (rank < 0 || rank >= size()) return "rank " + std::to_string(rank);
  return "rank " + std::to_string(rank) + " (" + placeOf(rank) + ')';
}

// With the host as far as it is known.
std::string Group::placeOf(int rank) const {
  const int instance = instanceOf(rank);
  const std::string name = "instance " + std::to_string(instance);
  if (context_.isLocal(instance)) return name + " on " + pop::sys::hostName();
  const auto index = static_cast<std::size_t>(rank);
  const bool is_far = index < host_of_rank_.size() && !host_of_rank_[index].empty();
  return is_far ? name + " on " + host_of_rank_[index] : name;
}

// Who waits for other hosts still hears what its own host's members say on their control block.
std::function<std::optional<exec::Failure>()> Group::heardOnHost() {
  if (!over_hosts_) return {};
  return [this] { return over_hosts_->whyPeerHasGivenUp(); };
}

// What another rank has said may be anything.
int Group::rankToBlame(const exec::Failure& failure) const {
  const auto member = std::find(instance_of_rank_.begin(), instance_of_rank_.end(), failure.peer_instance);
  if (member != instance_of_rank_.end()) return static_cast<int>(member - instance_of_rank_.begin());
  const bool is_rank = failure.peer_rank >= 0 && failure.peer_rank < size();
  return is_rank ? failure.peer_rank : -1;
}

exec::Failure Group::execute(const exec::Call& call, std::span<const Part> parts,
                             std::chrono::milliseconds timeout) {
  std::vector<exec::RankWork> work;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    work.push_back({local_ranks_[i], parts[i].plan, parts[i].input, parts[i].output,
                    &connections_->endpoint(local_ranks_[i])});
  }
  const exec::Waiting waiting{.sleeper = &connections_->sleeper(),
                              .monitor = monitor_.get(),
                              .oversubscribed = oversubscribed_,
                              .given_up = heardOnHost(),
                              .deadline = pop::sys::AwakeClock::now() + timeout,
                              .moving_deadline = moving_deadline_,
                              .names = [this](int rank) { return nameOfRank(rank); },
                              .heard = heard_};
  return exec::execute(call, work, waiting);
}

void Group::fail(const CallDescription& call, const pop::Status& status, int peer) const {
  const int rank = local_ranks_.front();
  throw CallError(static_cast<ErrorCode>(status.code()), call.text + " on " + nameOfRank(rank),
                  status.message(), {.rank = rank, .peer = peer, .operation = call.operation});
}

}  // namespace popdist::context
