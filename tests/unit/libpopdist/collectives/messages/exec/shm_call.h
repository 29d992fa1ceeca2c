// SPDX-License-Identifier: Apache-2.0
// A collective call of one "process" of a ShmWorld or TcpWorld, straight through plan and executor.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/collectives/choice/by_messages.h"
#include "libpopdist/collectives/messages/exec/executor.h"
#include "tests/unit/libpopdist/collectives/messages/transport/shm/shm_world.h"

namespace popdist::exec {

/// Nobody ever ends.
class Immortals final : public PeerMonitor {
 public:
  bool anyEnded() override { return false; }
  std::optional<PeerLoss> loss(std::span<const int>) override { return std::nullopt; }
};

struct Part {
  int rank = 0;
  const void* input = nullptr;
  void* output = nullptr;
};

struct Request {
  plan::Operation operation = plan::Operation::kBarrier;
  Type type = Type::kUint8;
  std::size_t count = 1;
  int root = 0;
  const char* tensor = "";
  std::uint64_t sequence = 0;
  std::chrono::milliseconds timeout{20'000};
  bool oversubscribed = true;
  PeerMonitor* monitor = nullptr;  ///< nullptr: nobody ever ends
};

/// Runs `parts`, all of one process, of one collective.
template <typename World>
Failure call(World& world, const Request& request, const std::vector<Part>& parts) {
  std::vector<plan::Plan> plans;
  for (const Part& part : parts) {
    plans.push_back(choice::planCollective(
        {request.operation, part.rank, world.size(), request.count, request.root, sizeOf(request.type)}));
  }
  std::vector<RankWork> work;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    work.push_back(
        {parts[i].rank, &plans[i], parts[i].input, parts[i].output, &world.endpoint(parts[i].rank)});
  }
  Immortals immortals;
  return execute({.key = {.operation = request.operation, .type = request.type, .root = request.root},
                  .count = request.count,
                  .tensor = request.tensor,
                  .sequence = request.sequence},
                 work,
                 {.sleeper = &world.sleeperOf(parts.front().rank),
                  .monitor = request.monitor != nullptr ? request.monitor : &immortals,
                  .oversubscribed = request.oversubscribed,
                  .deadline = pop::sys::AwakeClock::now() + request.timeout});
}

}  // namespace popdist::exec
