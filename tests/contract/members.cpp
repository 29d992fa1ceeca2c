// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/members.h"

#include <string>
#include <vector>

namespace popdist::contract {
namespace {

// The counts that a rank sends to each rank in the ragged calls.
std::vector<std::size_t> countsTo(const Case& tested, int rank, int ranks) {
  std::vector<std::size_t> counts;
  for (int to = 0; to < ranks; ++to) counts.push_back(raggedCount(tested, rank, to));
  return counts;
}
std::vector<std::size_t> countsFrom(const Case& tested, int rank, int ranks) {
  std::vector<std::size_t> counts;
  for (int from = 0; from < ranks; ++from) counts.push_back(raggedCount(tested, from, rank));
  return counts;
}

void call(Communicator& c, const Case& t, const void* in, void* out) {
  const std::vector<std::size_t> from = countsFrom(t, c.rank(), c.size());
  switch (t.operation) {
    case Operation::kAllReduce:
      return c.allReduce(in, out, t.count, t.type, t.op);
    case Operation::kReduceScatter:
      return c.reduceScatter(in, out, t.count, t.type, t.op);
    case Operation::kReduce:
      return c.reduce(in, out, t.count, t.type, t.op, t.root);
    case Operation::kAllGather:
      if (t.ragged) return c.allGather(in, out, from, t.type);
      return c.allGather(in, out, t.count, t.type);
    case Operation::kBroadcast:
      return c.broadcast(out, t.count, t.type, t.root);
    case Operation::kGather:
      return c.gather(in, out, t.count, t.type, t.root);
    case Operation::kScatter:
      return c.scatter(in, out, t.count, t.type, t.root);
    case Operation::kAllToAll:
      if (t.ragged) return c.allToAll(in, countsTo(t, c.rank(), c.size()), out, from, t.type);
      return c.allToAll(in, out, t.count, t.type);
    case Operation::kBarrier:
      return c.barrier();
    case Operation::kSendRecv: {
      const plan::Partners p = partnersOf(t, c.rank(), c.size());
      return c.sendRecv(in, p.send_count, p.to, out, p.recv_count, p.from, t.type);
    }
  }
}

Pending issue(AsyncCommunicator& c, const std::string& name, const Case& t, const void* in, void* out) {
  switch (t.operation) {
    case Operation::kAllReduce:
      return c.allReduce(name, in, out, t.count, t.type, t.op);
    case Operation::kReduceScatter:
      return c.reduceScatter(name, in, out, t.count, t.type, t.op);
    case Operation::kReduce:
      return c.reduce(name, in, out, t.count, t.type, t.op, t.root);
    case Operation::kAllGather:
      return c.allGather(name, in, out, t.count, t.type);
    case Operation::kBroadcast:
      return c.broadcast(name, out, t.count, t.type, t.root);
    case Operation::kGather:
      return c.gather(name, in, out, t.count, t.type, t.root);
    case Operation::kScatter:
      return c.scatter(name, in, out, t.count, t.type, t.root);
    case Operation::kAllToAll:
      return c.allToAll(name, in, out, t.count, t.type);
    default:
      return c.barrier(name);
  }
}

}  // namespace

Members membersOf(Communicator& communicator) {
  return {.rank = communicator.rank(),
          .ranks = communicator.size(),
          .call = [&communicator](const Case& tested, const void* in, void* out) {
            contract::call(communicator, tested, in, out);
          }};
}

Members membersOf(AsyncCommunicator& communicator) {
  return {.rank = communicator.rank(),
          .ranks = communicator.size(),
          .call = [&communicator](const Case& tested, const void* in, void* out) {
            issue(communicator, "case " + std::to_string(tested.seed), tested, in, out).wait();
          }};
}

bool canBeNamed(const Case& tested) {
  return !tested.ragged && tested.operation != Operation::kSendRecv;
}

std::set<unsigned> everybody(const Context& context) {
  std::set<unsigned> all;
  for (int instance = 0; instance < context.numInstances(); ++instance)
    all.insert(static_cast<unsigned>(instance));
  return all;
}

}  // namespace popdist::contract
