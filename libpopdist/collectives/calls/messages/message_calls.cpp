// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/calls/messages/message_calls.h"

#include <vector>

#include "libpopdist/collectives/calls/messages/message_partners.h"
#include "libpopdist/collectives/choice/by_messages.h"
#include "libpopdist/collectives/group/time_left.h"
#include "libpopdist/collectives/plan/message_moves.h"
#include "libpopdist/collectives/reduce/copy.h"
#include "libpopdist/internal/fold.h"

namespace popdist::calls {

using group::CollectiveCall;
using plan::Operation;

namespace {

// Calls in which a rank may have nothing to send, and the ranks have not exchanged their counts before.
bool sendsEmpty(const CollectiveCall& call) {
  if (call.operation == Operation::kSendRecv) return false;
  return call.ragged ? call.operation == Operation::kAllGather : call.count == 0;
}

}  // namespace

exec::Call messageCallOf(const CollectiveCall& call) {
  return {
      .key = keyOf(call), .count = agreedCount(call), .tensor = call.tensor, .sends_empty = sendsEmpty(call)};
}

exec::Failure MessageCalls::carryOut(CollectiveCall call) {
  if (exec::Failure failure = checkPartners(call); !failure.status.ok()) return failure;
  const std::uint8_t token = 0;
  std::uint8_t ignored = 0;
  if (call.operation == Operation::kBarrier) {
    call.input = &token;
    call.output = &ignored;
    call.count = 1;
  }
  // With one rank there is nothing to reduce, but squares and the like must be computed.
  if (size() == 1 && plan::reduces(call.operation)) {
    reduce::fold({.op = call.op, .type = call.type}, {&call.output, 1}, {&call.input, 1}, call.count);
    return {};
  }
  // All-reduce plans work in place.
  if (call.operation == Operation::kAllReduce && call.input != call.output && call.count > 0)
    reduce::copyCached(call.output, call.input, call.count * sizeOf(call.type));
  return send(call);
}

plan::Plan MessageCalls::planFor(const CollectiveCall& call) {
  const bool has_flows = call.ragged || call.operation == Operation::kSendRecv;
  if (has_flows) {
    taken_ = nameOf(choice::Algorithm::kDirect);
    return plan::planMoves(flowsOf(call), rank_);
  }
  const choice::Request request{.operation = call.operation,
                                .rank = rank_,
                                .ranks = size(),
                                .count = call.count,
                                .root = call.root,
                                .element_bytes = sizeOf(call.type),
                                .over_network = runner_->overNetwork(),
                                .forced = forced_};
  taken_ = nameOf(choice::algorithmFor(request));
  return choice::planCollective(request);
}

plan::Flows MessageCalls::flowsOf(const CollectiveCall& call) const {
  if (call.operation == Operation::kSendRecv) return plan::flowsOf(call.partners, rank_);
  if (call.operation == Operation::kAllGather)
    return plan::tellingTheNext(plan::allGatherFlows(call.counts), size());
  return plan::ownFlows(rank_, call.counts, call.recv_counts);
}

exec::Failure MessageCalls::send(const CollectiveCall& call) {
  const plan::Plan plan = planFor(call);
  const MessageRunner::Part part{&plan, call.input, call.output};
  exec::Call message = messageCallOf(call.whole());
  message.type = call.type;
  runner_->nextCall();
  return runner_->run(message, {&part, 1}, call.timeout);
}

// Requests that only some members know are first sent to all, within the time of the call.
exec::Failure MessageCalls::checkPartners(CollectiveCall& call) {
  const bool ragged = call.operation == Operation::kAllToAll && call.ragged;
  if (!ragged && call.operation != Operation::kSendRecv) return {};
  const auto deadline = pop::sys::AwakeClock::now() + call.timeout;
  exec::Failure failure = ragged ? compareCounts(call) : comparePartners(*runner_, call);
  call.timeout = group::timeLeft(deadline);
  return failure;
}

// Members exchange how much they send: contradicting lengths would produce garbage later.
exec::Failure MessageCalls::compareCounts(const CollectiveCall& call) {
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<std::uint64_t> sent(ranks, 0);
  const std::vector<std::uint64_t> sends(call.counts.begin(), call.counts.end());
  exec::Failure failure = send({.operation = Operation::kAllToAll,
                                .input = sends.data(),
                                .output = sent.data(),
                                .count = 1,
                                .type = Type::kUint64,
                                .timeout = call.timeout,
                                .part_of = &call});
  for (std::size_t from = 0; failure.status.ok() && from < ranks; ++from) {
    if (sent[from] == call.recv_counts[from]) continue;
    const int other = static_cast<int>(from);
    const group::Members& members = runner_->members();
    failure = {.status = pop::failedPrecondition(group::describeCountMismatch(
                   members.nameOfRank(other), sent[from], members.nameOfRank(members.localRanks().front()),
                   call.recv_counts[from])),
               .peer_rank = other};
  }
  return failure;
}

}  // namespace popdist::calls
