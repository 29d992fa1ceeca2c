// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/group.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "popdist/error.hpp"

namespace popdist::context {
namespace {

int usableCores() {
  cpu_set_t cpus;
  return ::sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

// Reads the obituaries that the agent writes into the segment.
class ObituaryMonitor final : public exec::PeerMonitor {
 public:
  ObituaryMonitor(pop::contract::SegmentHeader* header, const std::vector<int>& instance_of_rank)
      : header_(header), instance_of_rank_(instance_of_rank) {}

  bool anyEnded() override { return header_->obituary_count.load(std::memory_order_acquire) > 0; }

  std::optional<exec::PeerLoss> loss(std::span<const int> awaited) override {
    const std::uint32_t count = header_->obituary_count.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) {
      const pop::contract::Obituary& obituary = pop::contract::obituariesOf(header_)[i];
      if (!concerns(obituary, awaited)) continue;
      std::string text = obituary.text;
      if (obituary.clean != 0) text += " without taking part";
      return exec::PeerLoss{obituary.instance, std::move(text)};
    }
    return std::nullopt;
  }

 private:
  bool concerns(const pop::contract::Obituary& obituary, std::span<const int> awaited) const {
    const auto is_it = [&](int instance) { return instance == obituary.instance; };
    if (obituary.clean == 0) return std::any_of(instance_of_rank_.begin(), instance_of_rank_.end(), is_it);
    return std::any_of(awaited.begin(), awaited.end(),
                       [&](int rank) { return is_it(instance_of_rank_[static_cast<std::size_t>(rank)]); });
  }

  pop::contract::SegmentHeader* header_;
  const std::vector<int>& instance_of_rank_;
};

std::vector<int> ranksOf(int instance, const std::vector<int>& instance_of_rank) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < instance_of_rank.size(); ++rank) {
    if (instance_of_rank[rank] == instance) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

// Everybody tells everybody where its ranks can be reached.
std::vector<std::string> exchangeAddresses(Surroundings& surroundings, const std::string& prefix, int ranks,
                                           const std::vector<int>& local_ranks,
                                           const transport::ShmGroup* mine) {
  constexpr const char* kOperation = "creating a communicator";
  for (const int rank : local_ranks) {
    throwIfFailed(surroundings.link->put(prefix + std::to_string(rank), mine->address(rank)), kOperation);
  }
  throwIfFailed(surroundings.link->fence(surroundings.timeout()), kOperation);
  std::vector<std::string> addresses;
  for (int rank = 0; rank < ranks && mine != nullptr; ++rank) {
    std::optional<std::string> address;
    throwIfFailed(surroundings.link->get(prefix + std::to_string(rank), surroundings.timeout(), address),
                  kOperation);
    if (!address) {
      throwIfFailed({pop::failedPrecondition(
                        "the instances have not asked for the same communicator: nobody is its rank " +
                        std::to_string(rank))},
                    kOperation);
    }
    addresses.push_back(std::move(*address));
  }
  return addresses;
}

}  // namespace

void throwIfFailed(const LinkError& error, const char* operation) {
  if (error.ok()) return;
  throw popdist_error(static_cast<ErrorCode>(error.status.code()),
                      std::string(operation) + ": " + error.status.message(),
                      {.rank = -1, .peer = error.instance, .operation = operation});
}

Group::Group(Surroundings& surroundings, std::vector<int> instance_of_rank, std::vector<int> local_ranks)
    : surroundings_(surroundings),
      instance_of_rank_(std::move(instance_of_rank)),
      local_ranks_(std::move(local_ranks)),
      a_core_each_(surroundings.num_local_instances <= usableCores()),
      monitor_(std::make_unique<ObituaryMonitor>(surroundings.link->segment().header(), instance_of_rank_)) {}

std::unique_ptr<Group> Group::create(Surroundings& surroundings, std::vector<int> instance_of_rank) {
  const std::string prefix = "popdist/group/" + std::to_string(surroundings.groups_created++) + '/';
  const int ranks = static_cast<int>(instance_of_rank.size());
  std::vector<int> local_ranks = ranksOf(surroundings.instance_index, instance_of_rank);
  if (local_ranks.empty()) {
    exchangeAddresses(surroundings, prefix, ranks, local_ranks, nullptr);
    return nullptr;
  }
  auto transport = transport::ShmGroup::create(surroundings.link->segment(), ranks, local_ranks);
  throwIfFailed({transport.status()}, "creating a communicator");
  const std::vector<std::string> addresses =
      exchangeAddresses(surroundings, prefix, ranks, local_ranks, transport->get());
  throwIfFailed({transport.value()->connect(addresses)}, "creating a communicator");

  std::unique_ptr<Group> group(new Group(surroundings, std::move(instance_of_rank), std::move(local_ranks)));
  group->transport_ = std::move(*transport);
  return group;
}

void Group::run(exec::Call call, std::span<const Part> parts) {
  if (broken_)
    fail(call.name, pop::failedPrecondition("an earlier call on this communicator failed: " + *broken_), -1);
  call.sequence = calls_++;
  std::vector<exec::RankWork> work;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    work.push_back({parts[i].plan, parts[i].input, parts[i].output, &transport_->endpoint(local_ranks_[i])});
  }
  const exec::Waiting waiting{.sleeper = &transport_->sleeper(),
                              .monitor = monitor_.get(),
                              .a_core_each = a_core_each_,
                              .deadline = std::chrono::steady_clock::now() + surroundings_.timeout()};
  const exec::Failure failure = exec::execute(call, reduce::sumKernel(call.type), work, waiting);
  if (failure.status.ok()) return;
  broken_ = failure.status.message();
  fail(call.name, failure.status, failure.peer_instance);
}

void Group::fail(const char* operation, const pop::Status& status, int peer) const {
  throw popdist_error(static_cast<ErrorCode>(status.code()), std::string(operation) + ": " + status.message(),
                      {.rank = local_ranks_.front(), .peer = peer, .operation = operation});
}

}  // namespace popdist::context
