// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/exchange.h"

#include <utility>

namespace pop::pod {
namespace {

void sendPart(ReplicaGroup group, int replica, int hops, const Take& take) {
  const int to = (group.placeOf(replica) + hops) % group.size;
  take({replica, group.with(replica, to), static_cast<std::uint32_t>(to), 1, false});
}

std::vector<RoundClass> eachForItself(int rounds) {
  std::vector<RoundClass> classes;
  for (int round = 0; round < rounds; ++round) classes.push_back({round, 1});
  return classes;
}

template <typename Visit>
void forEachRoot(int replicas, ReplicaGroup group, int root, const Visit& visit) {
  for (int replica = 0; replica < replicas; ++replica) {
    if (group.placeOf(replica) == root) visit(replica);
  }
}

}  // namespace

Schedule allToAll(int replicas, ReplicaGroup group, bool direct) {
  const int hops = group.size - 1;
  Schedule schedule{.replicas = replicas, .blocks = static_cast<std::uint32_t>(group.size), .phases = {}};
  if (hops == 0) return schedule;
  const int in_round = direct ? hops : 1;
  const int rounds = hops / in_round;
  schedule.phases.push_back(
      {"all-to-all", rounds, eachForItself(rounds), [replicas, group, in_round](int round, const Take& take) {
         for (int replica = 0; replica < replicas; ++replica) {
           for (int hop = round * in_round + 1; hop <= (round + 1) * in_round; ++hop)
             sendPart(group, replica, hop, take);
         }
       }});
  return schedule;
}

Schedule broadcast(Schedule all_gather, ReplicaGroup group, int root) {
  if (group.size == 1) return all_gather;
  const std::uint32_t blocks = all_gather.blocks / static_cast<std::uint32_t>(group.size);
  const auto scatter = [replicas = all_gather.replicas, parts = all_gather.part_of_place, group, root,
                        blocks](int, const Take& take) {
    forEachRoot(replicas, group, root, [&](int from) {
      for (int place = 0; place < group.size; ++place) {
        if (place != root)
          take({from, group.with(from, place), parts[static_cast<std::size_t>(place)] * blocks, blocks,
                false});
      }
    });
  };
  all_gather.phases.insert(all_gather.phases.begin(), Phase{"scatter", 1, {{0, 1}}, scatter});
  return all_gather;
}

Schedule directBroadcast(int replicas, ReplicaGroup group, int root) {
  Schedule schedule{.replicas = replicas, .blocks = 1, .phases = {}};
  if (group.size == 1) return schedule;
  const auto sendAll = [replicas, group, root](int, const Take& take) {
    forEachRoot(replicas, group, root, [&](int from) {
      for (int place = 0; place < group.size; ++place) {
        if (place != root) take({from, group.with(from, place), 0, 1, false});
      }
    });
  };
  schedule.phases.push_back({"broadcast", 1, {{0, 1}}, sendAll});
  return schedule;
}

}  // namespace pop::pod
