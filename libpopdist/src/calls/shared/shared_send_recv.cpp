// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/calls/shared/shared_send_recv.h"

#include <algorithm>
#include <cstring>

#include "libpopdist/src/plan/shared_move.h"
#include "libpopdist/src/plan/stage_layout.h"

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

bool SharedSendRecv::run(const CollectiveCall& call, const shared::Call& shared,
                         exec::Failure& contradiction) {
  const std::size_t element_bytes = sizeOf(call.type);
  const shared::Buffers buffers{
      .input = call.input, .output = call.output, .note = std::as_bytes(std::span(&call.partners, 1))};
  if (!meet(shared, buffers, call.partners, element_bytes) || !agree(contradiction)) return false;
  Flows at_once;
  Flows large;
  bool direct = true;
  for (int rank = 0; rank < place_.ranks; ++rank) {
    const Partners& each = all_[static_cast<std::size_t>(rank)];
    if (each.to < 0 || each.send_count == 0) continue;
    const Flow flow{rank, each.to, 0, 0, each.send_count * element_bytes};
    const Algorithm algorithm = choice_.transfer(flow.size, engine_.isInputMapped(rank));
    if (flow.from == flow.to || algorithm == Algorithm::kEager) {
      if (flow.to == place_.rank) at_once.push_back(flow);
    } else {
      large.push_back(flow);
      direct = direct && algorithm == Algorithm::kDirect;
    }
  }
  const plan::SharedPlan taking = plan::eagerMove(at_once, place_.rank, EagerOrder::kOnly);
  const bool pulls = !large.empty() && !direct && choice_.isTransferWorthPulling(largestOf(large));
  const bool asks = pulls && !choice_.reading().asked();  // in meetings of their own
  if (!engine_.run(shared, buffers, {.plan = taking, .fold = {}, .more = !large.empty() && !asks}))
    return false;
  if (pulls && !choice_.reading().ask(shared)) return false;
  taken_ = large.empty()                          ? Algorithm::kEager
           : direct                               ? Algorithm::kDirect
           : pulls && choice_.reading().allowed() ? Algorithm::kPull
                                                  : Algorithm::kStaged;
  return large.empty() || moveLarge(shared, buffers, large);
}

// Everybody takes as much room, whatever it sends: nobody knows yet what the others do.
bool SharedSendRecv::meet(const shared::Call& call, const shared::Buffers& buffers, const Partners& own,
                          std::size_t element_bytes) {
  const Flow flow{place_.rank, own.to, 0, 0, own.send_count * element_bytes};
  const bool leaves_at_once =
      own.to >= 0 && own.to != place_.rank &&
      choice_.transfer(flow.size, engine_.isMapped(buffers.input)) == Algorithm::kEager;
  const plan::SharedPlan giving =
      plan::eagerMove(leaves_at_once ? Flows{flow} : Flows{}, place_.rank, EagerOrder::kOnly);
  if (!engine_.run(call, buffers,
                   {.plan = giving, .fold = {}, .eager_bytes = choice_.eagerTransferBytes(), .more = true}))
    return false;
  for (int rank = 0; rank < place_.ranks; ++rank)
    std::memcpy(&all_[static_cast<std::size_t>(rank)], engine_.data(rank), sizeof(Partners));
  return true;
}

bool SharedSendRecv::agree(exec::Failure& contradiction) const {
  const auto found = plan::findContradiction(all_);
  if (!found) return true;
  contradiction = {.status = pop::failedPrecondition(found->text), .peer_rank = found->seenBy(place_.rank)};
  return false;
}

bool SharedSendRecv::moveLarge(const shared::Call& call, const shared::Buffers& buffers, const Flows& flows) {
  const bool streaming = choice::pastCaches(Operation::kSendRecv, largestOf(flows), place_.ranks);
  const auto run = [&](const plan::SharedPlan& plan, bool more) {
    return engine_.run(call, buffers, {.plan = plan, .fold = {}, .streaming = streaming, .more = more});
  };
  if (taken_ != Algorithm::kStaged)
    return !engine_.peerHasGivenUp() && run(plan::directMove(flows, place_.rank, false), false);
  const auto staged =
      plan::stagedMove(flows, place_.rank, plan::chunksOf(Operation::kSendRecv, place_.slots));
  bool well = true;
  for (plan::SharedPlan part; well && !staged->isOver();) {
    staged->next(part);
    well = run(part, !staged->isOver());
  }
  return well;
}

}  // namespace popdist::calls
