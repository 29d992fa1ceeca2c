// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/calls/messages/message_runner.h"

#include "common/sys/awake_clock.h"
#include "libpopdist/src/exec/abort_message.h"

namespace popdist::calls {

exec::Failure MessageRunner::run(exec::Call call, std::span<const Part> parts,
                                 std::chrono::milliseconds timeout) {
  call.sequence = calls_ - 1;
  call.members = members_.size();
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
  return exec::execute(call, work, waiting);
}

void MessageRunner::abort(const exec::Failure& failure) {
  const bool all_know = failure.peer_instance >= 0 && monitor_.anyFailed();
  connections_->abandon(exec::encodeAbortMessage(members_.localRanks().front(), failure), !all_know);
}

}  // namespace popdist::calls
