// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/calls/hosts/hierarchical_calls.h"

#include <algorithm>
#include <utility>

#include "libpopdist/src/plan/ring_all_gather.h"
#include "libpopdist/src/plan/ring_reduce_scatter.h"
#include "libpopdist/src/shared/control_block.h"

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

// A host's result is not finished: a mean is taken in the end.
Operator firstOf(Operator op) {
  return op == Operator::kMean ? Operator::kSum : op;
}
// And what is reduced then has been prepared.
Operator laterOf(Operator op) {
  return op == Operator::kSquareAdd ? Operator::kSum : op;
}

}  // namespace

// Who waits for other hosts still hears what its own host's members say on their control block.
HierarchicalCalls::HierarchicalCalls(plan::HostLayout layout, std::unique_ptr<SharedCalls> inside,
                                     std::unique_ptr<MessageCalls> messages)
    : layout_(std::move(layout)), inside_(std::move(inside)), messages_(std::move(messages)) {
  messages_->runner().setGivenUp([this] { return inside_->whyPeerHasGivenUp(); });
}

bool HierarchicalCalls::run(const CollectiveCall& call) {
  call_ = &call;
  deadline_ = Clock::now() + call.timeout;
  const HierarchyWay way = wayOf(call);
  return way == HierarchyWay::kFlat ? runFlat(call) : runInLevels(call, way);
}

// What is forced is about all-reduces only.
HierarchyWay HierarchicalCalls::wayOf(const CollectiveCall& call) const {
  const bool forced = messages_->isForced() && call.operation == Operation::kAllReduce;
  if (call.ragged || forced) return HierarchyWay::kFlat;
  return choice::hierarchyFor(call.operation, call.count * sizeOf(call.type), layout_);
}

// Before messages between all ranks the call is compared with those of this host's other members, one of whom
// may be about to wait in memory where this one never comes.
bool HierarchicalCalls::runFlat(const CollectiveCall& call) {
  if (!inside({.operation = Operation::kBarrier})) return false;
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

void HierarchicalCalls::giveUp(const exec::Failure& failure) {
  inside_->giveUp(failure);
  messages_->giveUp(failure);
}

void HierarchicalCalls::setDeadline(const exec::MovingDeadline& deadline) {
  inside_->setDeadline(deadline);
  messages_->setDeadline(deadline);
}

// ---- operations

bool HierarchicalCalls::allReduceByLeaders(const CollectiveCall& call) {
  CollectiveCall first = call;
  const bool inlined = call.count * sizeOf(call.type) <= shared::kInlineBytes;
  first.operation = inlined ? Operation::kAllReduce : Operation::kReduce;
  first.op = firstOf(call.op);
  if (!inside(first)) return false;
  if (isLeader() && !across(layout_.lane(0), {.operation = Operation::kAllReduce, .count = call.count},
                            call.output, call.output)) {
    return false;
  }
  return inside(
      {.operation = Operation::kBroadcast, .input = call.output, .output = call.output, .count = call.count});
}

// Each member reduces one block of all members, then with its lane, and in the end all blocks go to all: of
// one piece after another, which is in the caches all that time. The few elements that are left over go by
// the leaders.
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
    const bool well =
        inside({.operation = Operation::kReduceScatter,
                .input = at(call.input, done * element),
                .output = own,
                .count = block,
                .op = firstOf(call.op)}) &&
        across(layout_.lane(layout_.local()), {.operation = Operation::kAllReduce, .count = block}, own,
               own) &&
        inside({.operation = Operation::kAllGather, .input = own, .output = piece, .count = block});
    if (!well) return false;
  }
  if (done == call.count) return true;
  CollectiveCall rest = call;
  rest.input = at(call.input, done * element);
  rest.output = at(call.output, done * element);
  rest.count = call.count - done;
  return allReduceByLeaders(rest);
}

// First the blocks of one host's ranks after another's, among this host's members; then with the lane.
bool HierarchicalCalls::reduceScatterInLanes(const CollectiveCall& call) {
  const std::size_t block_bytes = call.count * sizeOf(call.type);
  kept_.resize(static_cast<std::size_t>(layout_.hosts()) * block_bytes);
  std::vector<plan::Range> blocks;
  for (int host = 0; host < layout_.hosts(); ++host) {
    const std::size_t index = static_cast<std::size_t>(host);
    blocks.push_back({index * call.count, call.count});
    if (!inside({.operation = Operation::kReduceScatter,
                 .input = at(call.input, static_cast<std::size_t>(layout_.firstRankOf(host)) * block_bytes),
                 .output = kept_.data() + index * block_bytes,
                 .count = call.count,
                 .op = firstOf(call.op)})) {
      return false;
    }
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
  if (!inside({.operation = Operation::kGather, .input = call.input, .output = of_host, .count = call.count}))
    return false;
  if (isLeader() &&
      !acrossOn(plan::planRingAllGather(layout_.lane(0), layout_.host(), blocks), of_host, call.output)) {
    return false;
  }
  return inside({.operation = Operation::kBroadcast,
                 .input = call.output,
                 .output = call.output,
                 .count = blocks.back().begin + blocks.back().count});
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
    if (!inside({.operation = Operation::kAllGather,
                 .input = at(call.output, own * block_bytes),
                 .output = at(call.output, first * block_bytes),
                 .count = call.count})) {
      return false;
    }
  }
  return true;
}

bool HierarchicalCalls::broadcast(const CollectiveCall& call) {
  const Representatives they = representativesFor(call.root);
  const std::size_t element = sizeOf(call.type);
  const std::size_t most = pieceOf(call);
  std::size_t done = 0;
  do {
    const std::size_t count = std::min(most, call.count - done);
    std::byte* const piece = at(call.output, done * element);
    const choice::Request request{
        .operation = Operation::kBroadcast, .count = count, .root = layout_.hostOf(call.root)};
    if (they.mine && !across(they.ranks, request, piece, piece)) return false;
    if (!inside({.operation = Operation::kBroadcast,
                 .input = piece,
                 .output = piece,
                 .count = count,
                 .root = they.local})) {
      return false;
    }
    done += most;
  } while (done < call.count);
  return true;
}

bool HierarchicalCalls::reduce(const CollectiveCall& call) {
  const Representatives they = representativesFor(call.root);
  const std::size_t element = sizeOf(call.type);
  const std::size_t most = pieceOf(call);
  const bool is_root = they.mine && layout_.host() == layout_.hostOf(call.root);
  if (they.mine && !is_root) kept_.resize(std::min(most, call.count) * element);
  std::size_t done = 0;
  do {
    const std::size_t count = std::min(most, call.count - done);
    void* const result = is_root ? at(call.output, done * element) : kept_.data();
    if (!inside({.operation = Operation::kReduce,
                 .input = at(call.input, done * element),
                 .output = result,
                 .count = count,
                 .op = firstOf(call.op),
                 .root = they.local})) {
      return false;
    }
    const choice::Request request{
        .operation = Operation::kReduce, .count = count, .root = layout_.hostOf(call.root)};
    if (they.mine && !across(they.ranks, request, result, result)) return false;
    done += most;
  } while (done < call.count);
  return true;
}

bool HierarchicalCalls::barrier() {
  std::byte token{};
  std::byte ignored{};
  return inside({.operation = Operation::kBarrier}) &&
         (!isLeader() ||
          across(layout_.lane(0), {.operation = Operation::kBarrier, .count = 1}, &token, &ignored)) &&
         inside({.operation = Operation::kBarrier});
}

// ---- parts of them

// The root itself on its host, the leaders on others.
HierarchicalCalls::Representatives HierarchicalCalls::representativesFor(int root) const {
  Representatives they{.ranks = layout_.lane(0)};
  const int host = layout_.hostOf(root);
  they.ranks[static_cast<std::size_t>(host)] = root;
  if (host == layout_.host()) they.local = root - layout_.firstRankOf(host);
  they.mine = layout_.local() == they.local;
  return they;
}

std::size_t HierarchicalCalls::pieceOf(const CollectiveCall& call) const {
  return choice::kPassedOnBytes / sizeOf(call.type);
}

bool HierarchicalCalls::inside(CollectiveCall call) {
  call.type = call_->type;
  call.timeout = timeLeft();
  call.part_of = call_;
  return inside_->run(call);
}

bool HierarchicalCalls::across(const std::vector<int>& ranks, choice::Request request, const void* input,
                               void* output) {
  request.rank = layout_.host();
  request.ranks = layout_.hosts();
  request.element_bytes = sizeOf(call_->type);
  request.over_network = true;
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
