// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/message_calls.h"

#include <new>
#include <vector>

#include "libpopdist/src/context/message_partners.h"
#include "libpopdist/src/context/time_left.h"
#include "libpopdist/src/plan/message_moves.h"
#include "libpopdist/src/plan/select.h"
#include "libpopdist/src/reduce/copy.h"
#include "libpopdist/src/reduce/fold.h"

namespace popdist::context {

using plan::Operation;

namespace {

// Where nobody may have anything to send, and the ranks have not told each other what they want before.
bool sendsEmpty(const CollectiveCall& call) {
  if (call.operation == Operation::kSendRecv) return false;
  return call.ragged ? call.operation == Operation::kAllGather : call.count == 0;
}

}  // namespace

exec::Call messageCallOf(const CollectiveCall& call, int members) {
  return {.key = keyOf(call),
          .count = agreedCount(call),
          .tensor = call.tensor,
          .members = members,
          .sends_empty = sendsEmpty(call)};
}

// Whoever runs out of memory before it has sent anything is waited for, too. In a forked child the caller's
// buffers may be its parent's: nothing is done there, and even what would need nobody else is refused.
void MessageCalls::run(const CollectiveCall& call) {
  group_.checkUsable(call);
  try {
    carryOut(call);
  } catch (const std::bad_alloc&) {
    group_.failCollective(descriptionOf(call), {.status = {pop::Code::kResourceExhausted, "out of memory"}});
  }
}

void MessageCalls::carryOut(CollectiveCall call) {
  checkPartners(call);
  const std::uint8_t token = 0;
  std::uint8_t ignored = 0;
  if (call.operation == Operation::kBarrier) {
    call.input = &token;
    call.output = &ignored;
    call.count = 1;
  }
  // There are no partial results to reduce, but squares and the like to make.
  if (group_.size() == 1 && plan::reduces(call.operation)) {
    reduce::fold({.op = call.op, .type = call.type}, {&call.output, 1}, {&call.input, 1}, call.count);
    return;
  }
  // The plans of all-reduces work in place.
  if (call.operation == Operation::kAllReduce && call.input != call.output && call.count > 0)
    reduce::copyCached(call.output, call.input, call.count * sizeOf(call.type));
  send(call, call);
}

plan::Plan MessageCalls::planFor(const CollectiveCall& call) const {
  const bool has_flows = call.ragged || call.operation == Operation::kSendRecv;
  if (has_flows) {
    group_.setAlgorithmTaken(plan::nameOf(plan::Algorithm::kDirect));
    return plan::planMoves(flowsOf(call), rank_);
  }
  const plan::Request request{.operation = call.operation,
                              .rank = rank_,
                              .ranks = group_.size(),
                              .count = call.count,
                              .root = call.root,
                              .element_bytes = sizeOf(call.type),
                              .over_network = group_.overNetwork(),
                              .forced = group_.forcedByMessages()};
  group_.setAlgorithmTaken(plan::nameOf(plan::algorithmFor(request)));
  return plan::planCollective(request);
}

plan::Flows MessageCalls::flowsOf(const CollectiveCall& call) const {
  if (call.operation == Operation::kSendRecv) return plan::flowsOf(call.partners, rank_);
  if (call.operation == Operation::kAllGather)
    return plan::tellingTheNext(plan::allGatherFlows(call.counts), group_.size());
  return plan::ownFlows(rank_, call.counts, call.recv_counts);
}

void MessageCalls::send(const CollectiveCall& call, const CollectiveCall& whole) {
  const plan::Plan plan = planFor(call);
  const Group::Part part{&plan, call.input, call.output};
  exec::Call message = messageCallOf(whole, group_.size());
  message.type = call.type;
  group_.run(message, {&part, 1}, call.timeout);
}

// What only some members know of each other's wishes is told to all first, within the time of the call.
void MessageCalls::checkPartners(CollectiveCall& call) {
  const bool ragged = call.operation == Operation::kAllToAll && call.ragged;
  if (!ragged && call.operation != Operation::kSendRecv) return;
  const auto deadline = pop::sys::AwakeClock::now() + call.timeout;
  if (ragged)
    compareCounts(call);
  else
    comparePartners(group_, call);
  call.timeout = timeLeft(deadline);
}

// Members tell each other how much they send: lengths that contradict each other would be garbage further on.
void MessageCalls::compareCounts(const CollectiveCall& call) {
  const auto ranks = static_cast<std::size_t>(group_.size());
  std::vector<std::uint64_t> sent(ranks, 0);
  const std::vector<std::uint64_t> sends(call.counts.begin(), call.counts.end());
  send({.operation = Operation::kAllToAll,
        .input = sends.data(),
        .output = sent.data(),
        .count = 1,
        .type = Type::kUint64,
        .timeout = call.timeout},
       call);
  for (std::size_t from = 0; from < ranks; ++from) {
    if (sent[from] == call.recv_counts[from]) continue;
    const int other = static_cast<int>(from);
    group_.failCollective(
        descriptionOf(call),
        {.status = pop::failedPrecondition(countsContradict(other, sent[from], call.recv_counts[from])),
         .peer_rank = other});
  }
}

}  // namespace popdist::context
