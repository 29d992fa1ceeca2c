// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/calls/messages/message_runner.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/sys/awake_clock.h"
#include "libpopdist/collectives/messages/exec/abort_message.h"
#include "libpopdist/collectives/messages/exec/rank_progress.h"

namespace popdist::calls {

void MessageRunner::placeInGroup(exec::Call& call) const {
  call.sequence = calls_ - 1;
  call.members = members_.size();
  call.group = members_.number();
}

exec::Failure MessageRunner::run(exec::Call call, std::span<const Part> parts,
                                 std::chrono::milliseconds timeout) {
  placeInGroup(call);
  current_ = &call;
  std::vector<exec::RankWork> work;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int rank = members_.localRanks()[i];
    work.push_back({rank, parts[i].plan, parts[i].input, parts[i].output, &connections_->endpoint(rank)});
  }
  const exec::Waiting waiting{.sleeper = &connections_->sleeper(),
                              .monitor = &monitor_,
                              .oversubscribed = members_.context().oversubscribed(),
                              .peer_failure = peer_failure_,
                              .deadline = pop::sys::AwakeClock::now() + timeout,
                              .moving_deadline = moving_deadline_,
                              .names = members_.names(),
                              .heard = heard_};
  exec::Failure failure = exec::execute(call, work, waiting);
  current_ = nullptr;
  return failure;
}

exec::Header MessageRunner::note() const {
  if (current_ == nullptr) return {};
  return exec::Header::noteOf(members_.number(), exec::headerOf(*current_, 0));
}

// From each rank, since any of them may be awaited; to one of the instance's, which all have the same thread.
bool MessageRunner::tell(int instance, const exec::Header& note, bool dials) {
  const auto to = std::ranges::find(members_.instances(), instance);
  if (to == members_.instances().end()) return false;
  const int peer = static_cast<int>(to - members_.instances().begin());
  const exec::Header sent = note.forGroupAt(calls_);
  bool is_told = true;
  for (const int rank : members_.localRanks()) {
    alignas(transport::kHeadBytes) std::array<std::byte, transport::kHeadBytes> head{};
    std::memcpy(head.data(), &sent, sizeof(sent));
    is_told &= connections_->endpoint(rank).peer(peer).tryTell(head, dials);
  }
  return is_told;
}

std::optional<exec::Failure> MessageRunner::overhear(exec::Call call) {
  placeInGroup(call);
  const plan::Plan nothing;
  const int rank = members_.localRanks().front();
  const exec::Waiting waiting{.names = members_.names(), .heard = heard_};
  exec::RankProgress progress(
      call, {.rank = rank, .plan = &nothing, .endpoint = &connections_->endpoint(rank)}, waiting);
  progress.listenToAll();
  return progress.refusal();
}

void MessageRunner::abort(const exec::Failure& failure) {
  const bool all_know = failure.peer_instance >= 0 && monitor_.anyFailed();
  connections_->abandon(exec::encodeAbortMessage(members_.localRanks().front(), failure), !all_know);
}

}  // namespace popdist::calls
