// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/calls/hosts/hierarchical_calls.h"

#include <algorithm>
#include <utility>

#include "libpopdist/collectives/plan/ring_all_gather.h"
#include "libpopdist/collectives/plan/ring_reduce_scatter.h"
#include "libpopdist/collectives/shared/control_block.h"

namespace popdist::calls {

using choice::HierarchyWay;
using group::CollectiveCall;
using plan::Operation;

namespace {

std::byte* at(void* memory, std::size_t offset) {
  return static_cast<std::byte*>(memory) + offset;
}
const std::byte* at(const void* memory, std::size_t offset) {
  return static_cast<const std::byte*>(memory) + offset;
}

// Inside a host a mean stays a sum: the division comes at the end.
Operator firstOf(Operator op) {
  return op == Operator::kMean ? Operator::kSum : op;
}
// Between hosts the elements are already prepared (squared).
Operator laterOf(Operator op) {
  return op == Operator::kSquareAdd ? Operator::kSum : op;
}

}  // namespace

// A rank that waits for other hosts must still notice when a rank of its own host aborts, and the other way
// round: one of its own host that would pass it on may be elsewhere.
HierarchicalCalls::HierarchicalCalls(plan::HostLayout layout, std::unique_ptr<SharedCalls> inside,
                                     std::unique_ptr<MessageCalls> messages)
    : layout_(std::move(layout)), inside_(std::move(inside)), messages_(std::move(messages)) {
  messages_->runner().setPeerFailure([this] { return inside_->peerFailure(); });
  inside_->setPeerFailure([this] { return messages_->runner().overhear(messageCallOf(*call_)); });
}

bool HierarchicalCalls::run(const CollectiveCall& call) {
  call_ = &call;
  deadline_ = Clock::now() + call.timeout;
  const HierarchyWay way = wayOf(call);
  return way == HierarchyWay::kFlat ? runFlat(call) : runInLevels(call, way);
}

// Algorithms can be forced only for all-reduces.
HierarchyWay HierarchicalCalls::wayOf(const CollectiveCall& call) const {
  const bool forced = messages_->isForced() && call.operation == Operation::kAllReduce;
  if (call.ragged || forced) return HierarchyWay::kFlat;
  return choice::hierarchyFor(call.operation, call.count * sizeOf(call.type), layout_);
}

// Before all ranks exchange messages, the call is compared with those of this host's other members: one of
// them may be about to wait in memory for this rank. This counts as a call of its own, since what the call
// before has left on the connections is heard meanwhile.
bool HierarchicalCalls::runFlat(const CollectiveCall& call) {
  messages_->runner().nextCall();
  if (!inside(Operation::kBarrier, nullptr, nullptr, 0)) return false;
  CollectiveCall rest = call;
  rest.timeout = timeLeft();
  const bool well = messages_->run(rest);
  taken_ = messages_->algorithmTaken();
  return well || succeeded(messages_->takeFailure());
}

bool HierarchicalCalls::runInLevels(const CollectiveCall& call, HierarchyWay way) {
  taken_ = nameOf(way);
  messages_->runner().nextCall();
  const bool in_lanes = way == HierarchyWay::kLanes;
  switch (call.operation) {
    case Operation::kAllReduce:
      return in_lanes ? allReduceInLanes(call) : allReduceByLeaders(call);
    case Operation::kReduceScatter:
      return reduceScatterInLanes(call);
    case Operation::kAllGather:
      return in_lanes ? allGatherInLanes(call) : allGatherByLeaders(call);
    case Operation::kBroadcast:
      return broadcast(call);
    case Operation::kReduce:
      return reduce(call);
    default:
      return barrier();
  }
}

void HierarchicalCalls::abort(const exec::Failure& failure) {
  inside_->abort(failure);
  messages_->abort(failure);
}

void HierarchicalCalls::setDeadline(const exec::MovingDeadline& deadline) {
  inside_->setDeadline(deadline);
  messages_->setDeadline(deadline);
}

// ---- operations

bool HierarchicalCalls::allReduceByLeaders(const CollectiveCall& call) {
  const bool inlined = call.count * sizeOf(call.type) <= shared::kInlineBytes;
  const Operation first = inlined ? Operation::kAllReduce : Operation::kReduce;
  return inside(first, call.input, call.output, call.count) &&
         (!isLeader() ||
          across(layout_.lane(0), Operation::kAllReduce, call.output, call.output, call.count)) &&
         inside(Operation::kBroadcast, call.output, call.output, call.count);
}

// Each member reduces one block of all members, then reduces it with its lane, and finally all blocks go to
// all members. This is done piece by piece, so that a piece stays in the caches. The few remaining elements
// go by the leaders.
bool HierarchicalCalls::allReduceInLanes(const CollectiveCall& call) {
  const auto lanes = static_cast<std::size_t>(layout_.members());
  const std::size_t element = sizeOf(call.type);
  const std::size_t most = choice::kLanesPieceBytes / element / lanes;
  const std::size_t of_lane = call.count / lanes;
  std::size_t done = 0;
  for (std::size_t block = 0; done < lanes * of_lane; done += lanes * block) {
    block = std::min(most, of_lane - done / lanes);
    std::byte* const piece = at(call.output, done * element);
    std::byte* const own = at(piece, static_cast<std::size_t>(layout_.local()) * block * element);
    const bool well = inside(Operation::kReduceScatter, at(call.input, done * element), own, block) &&
                      across(layout_.lane(layout_.local()), Operation::kAllReduce, own, own, block) &&
                      inside(Operation::kAllGather, own, piece, block);
    if (!well) return false;
  }
  if (done == call.count) return true;
  CollectiveCall rest = call;
  rest.input = at(call.input, done * element);
  rest.output = at(call.output, done * element);
  rest.count = call.count - done;
  return allReduceByLeaders(rest);
}

// First the members of this host reduce the blocks of each host's ranks, host by host; then each lane
// reduces.
bool HierarchicalCalls::reduceScatterInLanes(const CollectiveCall& call) {
  const std::size_t block_bytes = call.count * sizeOf(call.type);
  kept_.resize(static_cast<std::size_t>(layout_.hosts()) * block_bytes);
  std::vector<plan::Range> blocks;
  for (int host = 0; host < layout_.hosts(); ++host) {
    const std::size_t index = static_cast<std::size_t>(host);
    blocks.push_back({index * call.count, call.count});
    const auto* const of_host =
        at(call.input, static_cast<std::size_t>(layout_.firstRankOf(host)) * block_bytes);
    if (!inside(Operation::kReduceScatter, of_host, kept_.data() + index * block_bytes, call.count))
      return false;
  }
  const std::vector<int> lane = layout_.lane(layout_.local());
  return acrossOn(
      plan::planRingReduceScatter(lane, layout_.host(), blocks, choice::segmentCount(sizeOf(call.type))),
      kept_.data(), call.output);
}

bool HierarchicalCalls::allGatherByLeaders(const CollectiveCall& call) {
  const std::size_t block_bytes = call.count * sizeOf(call.type);
  std::vector<plan::Range> blocks;
  for (int host = 0; host < layout_.hosts(); ++host) {
    blocks.push_back({static_cast<std::size_t>(layout_.firstRankOf(host)) * call.count,
                      static_cast<std::size_t>(layout_.membersOf(host)) * call.count});
  }
  std::byte* const of_host =
      at(call.output, static_cast<std::size_t>(layout_.firstRankOf(layout_.host())) * block_bytes);
  return inside(Operation::kGather, call.input, of_host, call.count) &&
         (!isLeader() ||
          acrossOn(plan::planRingAllGather(layout_.lane(0), layout_.host(), blocks), of_host, call.output)) &&
         inside(Operation::kBroadcast, call.output, call.output, blocks.back().begin + blocks.back().count);
}

bool HierarchicalCalls::allGatherInLanes(const CollectiveCall& call) {
  const std::size_t block_bytes = call.count * sizeOf(call.type);
  const std::vector<int> lane = layout_.lane(layout_.local());
  std::vector<plan::Range> blocks;
  for (const int rank : lane) blocks.push_back({static_cast<std::size_t>(rank) * call.count, call.count});
  if (!acrossOn(plan::planRingAllGather(lane, layout_.host(), blocks), call.input, call.output)) return false;
  for (int host = 0; host < layout_.hosts(); ++host) {
    const auto first = static_cast<std::size_t>(layout_.firstRankOf(host));
    const auto own = static_cast<std::size_t>(lane[static_cast<std::size_t>(host)]);
    if (!inside(Operation::kAllGather, at(call.output, own * block_bytes),
                at(call.output, first * block_bytes), call.count))
      return false;
  }
  return true;
}

// Calls `work` for each piece, at least once. Stops when it returns false.
template <typename Work>
bool HierarchicalCalls::inPieces(const CollectiveCall& call, const Work& work) {
  const std::size_t most = choice::kPassedOnBytes / sizeOf(call.type);
  std::size_t done = 0;
  do {
    if (!work(plan::Range{done, std::min(most, call.count - done)})) return false;
    done += most;
  } while (done < call.count);
  return true;
}

bool HierarchicalCalls::broadcast(const CollectiveCall& call) {
  const Representatives they = representativesFor(call.root);
  return inPieces(call, [&](plan::Range part) {
    std::byte* const piece = at(call.output, part.begin * sizeOf(call.type));
    return (!they.mine ||
            across(they.ranks, Operation::kBroadcast, piece, piece, part.count, layout_.hostOf(call.root))) &&
           inside(Operation::kBroadcast, piece, piece, part.count, they.local);
  });
}

bool HierarchicalCalls::reduce(const CollectiveCall& call) {
  const Representatives they = representativesFor(call.root);
  const std::size_t element = sizeOf(call.type);
  const bool is_root = they.mine && layout_.host() == layout_.hostOf(call.root);
  if (they.mine && !is_root) kept_.resize(std::min(choice::kPassedOnBytes, call.count * element));
  return inPieces(call, [&](plan::Range part) {
    void* const result = is_root ? at(call.output, part.begin * element) : kept_.data();
    return inside(Operation::kReduce, at(call.input, part.begin * element), result, part.count, they.local) &&
           (!they.mine ||
            across(they.ranks, Operation::kReduce, result, result, part.count, layout_.hostOf(call.root)));
  });
}

bool HierarchicalCalls::barrier() {
  std::byte token{};
  std::byte ignored{};
  return inside(Operation::kBarrier, nullptr, nullptr, 0) &&
         (!isLeader() || across(layout_.lane(0), Operation::kBarrier, &token, &ignored, 1)) &&
         inside(Operation::kBarrier, nullptr, nullptr, 0);
}

// ---- parts of them

// The root on its host, the leaders on the others.
HierarchicalCalls::Representatives HierarchicalCalls::representativesFor(int root) const {
  Representatives they{.ranks = layout_.lane(0)};
  const int host = layout_.hostOf(root);
  they.ranks[static_cast<std::size_t>(host)] = root;
  if (host == layout_.host()) they.local = root - layout_.firstRankOf(host);
  they.mine = layout_.local() == they.local;
  return they;
}

bool HierarchicalCalls::inside(Operation operation, const void* input, void* output, std::size_t count,
                               int root) {
  return inside_->run({.operation = operation,
                       .input = input,
                       .output = output,
                       .count = count,
                       .type = call_->type,
                       .op = firstOf(call_->op),
                       .root = root,
                       .timeout = timeLeft(),
                       .part_of = call_});
}

bool HierarchicalCalls::across(const std::vector<int>& ranks, Operation operation, const void* input,
                               void* output, std::size_t count, int root) {
  const choice::Request request{.operation = operation,
                                .rank = layout_.host(),
                                .ranks = layout_.hosts(),
                                .count = count,
                                .root = root,
                                .element_bytes = sizeOf(call_->type),
                                .over_network = true};
  return acrossOn(plan::onRanks(choice::planCollective(request), ranks), input, output);
}

bool HierarchicalCalls::acrossOn(const plan::Plan& plan, const void* input, void* output) {
  exec::Call call = messageCallOf(*call_);
  call.folds = laterOf(call_->op);
  const MessageRunner::Part part{&plan, input, output};
  return succeeded(messages_->runner().run(call, {&part, 1}, timeLeft()));
}

bool HierarchicalCalls::succeeded(exec::Failure failure) {
  if (failure.status.ok()) return true;
  failed_across_ = std::move(failure);
  return false;
}

}  // namespace popdist::calls
