// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/calls/shared/shared_send_recv.h"

#include <algorithm>
#include <cstring>

#include "libpopdist/collectives/plan/shared_move.h"
#include "libpopdist/collectives/plan/stage_layout.h"

namespace popdist::calls {

using group::CollectiveCall;
using plan::EagerOrder;
using plan::Flow;
using plan::Flows;
using plan::Operation;
using plan::Partners;

namespace {

std::size_t largestOf(const Flows& flows) {
  const auto largest = std::max_element(
      flows.begin(), flows.end(), [](const Flow& one, const Flow& other) { return one.size < other.size; });
  return largest->size;
}

}  // namespace

bool SharedSendRecv::run(const CollectiveCall& call, const shared::Call& shared) {
  const std::size_t element_bytes = sizeOf(call.type);
  const shared::Buffers buffers{
      .input = call.input, .output = call.output, .inline_data = std::as_bytes(std::span(&call.partners, 1))};
  if (!meet(shared, buffers, call.partners, element_bytes) || !agree()) return false;
  Flows at_once;
  Flows large;
  bool direct = true;
  for (int rank = 0; rank < meeting_.place().ranks; ++rank) {
    const Partners& each = all_[static_cast<std::size_t>(rank)];
    if (each.to < 0 || each.send_count == 0) continue;
    const Flow flow{rank, each.to, 0, 0, each.send_count * element_bytes};
    const Algorithm algorithm = choice_.transfer(flow.size, meeting_.isInputMapped(rank));
    if (flow.from == flow.to || algorithm == Algorithm::kEager) {
      if (flow.to == rank_) at_once.push_back(flow);
    } else {
      large.push_back(flow);
      direct = direct && algorithm == Algorithm::kDirect;
    }
  }
  const plan::SharedPlan taking = plan::eagerMove(at_once, rank_, EagerOrder::kOnly);
  const bool pulls = !large.empty() && !direct && choice_.isTransferWorthPulling(largestOf(large));
  const bool asks = pulls && !reading_.asked();  // needs meetings of its own
  if (!engine_.run(shared, buffers, {.plan = taking, .fold = {}, .more = !large.empty() && !asks}))
    return false;
  if (pulls && !reading_.ask(shared)) return false;
  taken_ = large.empty()                 ? Algorithm::kEager
           : direct                      ? Algorithm::kDirect
           : pulls && reading_.allowed() ? Algorithm::kPull
                                         : Algorithm::kStaged;
  return large.empty() || moveLarge(shared, buffers, large);
}

// All ranks take the same room, whatever they send, since no rank knows yet what the others do.
bool SharedSendRecv::meet(const shared::Call& call, const shared::Buffers& buffers, const Partners& own,
                          std::size_t element_bytes) {
  const Flow flow{rank_, own.to, 0, 0, own.send_count * element_bytes};
  const bool leaves_at_once =
      own.to >= 0 && own.to != rank_ &&
      choice_.transfer(flow.size, meeting_.isMapped(buffers.input)) == Algorithm::kEager;
  const plan::SharedPlan giving =
      plan::eagerMove(leaves_at_once ? Flows{flow} : Flows{}, rank_, EagerOrder::kOnly);
  if (!engine_.run(call, buffers,
                   {.plan = giving, .fold = {}, .eager_bytes = choice_.eagerTransferBytes(), .more = true}))
    return false;
  for (int rank = 0; rank < meeting_.place().ranks; ++rank)
    std::memcpy(&all_[static_cast<std::size_t>(rank)], meeting_.data(rank), sizeof(Partners));
  return true;
}

bool SharedSendRecv::agree() {
  const auto found = plan::findContradiction(all_);
  if (found) meeting_.blame(found->seenBy(rank_), found->text);
  return !found;
}

bool SharedSendRecv::moveLarge(const shared::Call& call, const shared::Buffers& buffers, const Flows& flows) {
  const bool streaming = choice::pastCaches(Operation::kSendRecv, largestOf(flows), meeting_.place().ranks);
  const auto run = [&](const plan::SharedPlan& plan, bool more) {
    return engine_.run(call, buffers, {.plan = plan, .fold = {}, .streaming = streaming, .more = more});
  };
  if (taken_ != Algorithm::kStaged)
    return !meeting_.waiter().peerAborted() && run(plan::directMove(flows, rank_, false), false);
  const auto staged =
      plan::stagedMove(flows, rank_, plan::chunksOf(Operation::kSendRecv, meeting_.place().layout.slots));
  bool well = true;
  for (plan::SharedPlan part; well && !staged->isOver();) {
    staged->next(part);
    well = run(part, !staged->isOver());
  }
  return well;
}

}  // namespace popdist::calls
