// SPDX-License-Identifier: Apache-2.0
// How a group comes about: what its members offer, the fence, what they make of it.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/src/context/end_notice_monitor.h"
#include "libpopdist/src/context/group.h"
#include "libpopdist/src/context/group_rendezvous.h"

namespace popdist::context {
namespace {

int numCores(pid_t process) {
  cpu_set_t cpus;
  return ::sched_getaffinity(process, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

// Whether this host's instances outnumber their cores. One that is bound sees only its own: who started it,
// poprun, has all that the job may use.
bool isOversubscribed(int local_instances) {
  return local_instances > std::max(numCores(0), numCores(::getppid()));
}

std::vector<int> ranksOf(int instance, const std::vector<int>& instance_of_rank) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < instance_of_rank.size(); ++rank) {
    if (instance_of_rank[rank] == instance) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

// Where a backend's members find each other: a job on one host has no other address.
std::string ownAddress(const Link& link) {
  const std::string address = link.network().address;
  return address.empty() ? "127.0.0.1" : address;
}

pop::Result<transport::Key> keyOf(const HostNetwork& network) {
  transport::Key key;
  if (network.job_key.size() != key.size()) {
    return pop::failedPrecondition(
        "this host's agent has given no key for connections to other hosts; was it built from another "
        "version?");
  }
  std::memcpy(key.data(), network.job_key.data(), key.size());
  return key;
}

pop::Result<std::unique_ptr<transport::Connections>> openConnections(const ContextState& context, int number,
                                                                     const std::vector<int>& instance_of_rank,
                                                                     const std::vector<int>& local_ranks) {
  transport::ConnectionsSetup setup{.segment = context.link->segment(),
                                    .local_ranks = local_ranks,
                                    .call_timeout = context.transport.call_timeout};
  bool over_network = false;
  for (const int instance : instance_of_rank) {
    setup.through_memory.push_back(context.isLocal(instance) && !context.transport.tcp_only);
    over_network |= !setup.through_memory.back();
  }
  if (over_network) {
    const HostNetwork network = context.link->network();
    POP_ASSIGN_OR_RETURN(setup.tcp.job, keyOf(network));
    setup.tcp.own_address = network.address;
    setup.tcp.group = static_cast<std::uint32_t>(number);
    setup.tcp.streams = context.transport.tcp_streams;
    setup.tcp.congestion_control = context.transport.tcp_congestion_control;
  }
  return transport::Connections::create(setup);
}

// Of communicators that are made now. Throws popdist_error.
ForcedAlgorithms forcedAlgorithms(const ContextState& context) {
  if (context.forced) return *context.forced;
  pop::Result<ForcedAlgorithms> forced = forcedByEnvironment();
  throwIfFailed({forced.status()}, kCreate);
  return *forced;
}

bool mayShare(const ContextState& context, const ForcedAlgorithms& forced) {
  return !forced.messages && !context.transport.tcp_only;
}

// The ranks on this host: they follow each other.
struct Neighbours {
  int first_rank = -1;
  int members = 0;
};

Neighbours neighboursIn(const ContextState& context, const std::vector<int>& instance_of_rank) {
  const auto is_local = [&](int instance) { return context.isLocal(instance); };
  const auto first = std::find_if(instance_of_rank.begin(), instance_of_rank.end(), is_local);
  return {static_cast<int>(first - instance_of_rank.begin()),
          static_cast<int>(std::count_if(first, instance_of_rank.end(), is_local))};
}

}  // namespace

Group::Group(ContextState& context, std::vector<int> instance_of_rank, std::vector<int> local_ranks)
    : context_(context),
      instance_of_rank_(std::move(instance_of_rank)),
      local_ranks_(std::move(local_ranks)),
      oversubscribed_(isOversubscribed(context.num_local_instances)),
      monitor_(
          std::make_unique<EndNoticeMonitor>(context.link->segment().header(), instance_of_rank_,
                                             [this](int instance) { return nameOfInstance(instance); })) {}

std::unique_ptr<Group> Group::create(ContextState& context, std::vector<int> instance_of_rank,
                                     GroupKind kind) {
  if (kind == GroupKind::kBackend) return createOnBackend(context, std::move(instance_of_rank));
  const ForcedAlgorithms forced = forcedAlgorithms(context);
  Link& link = *context.link;
  const int number = context.groups_created++;
  const std::string prefix = rendezvousPrefix(number);
  const int ranks = static_cast<int>(instance_of_rank.size());
  std::vector<int> local_ranks = ranksOf(context.instance_index, instance_of_rank);

  const bool native = kind == GroupKind::kNative && mayShare(context, forced);
  const Neighbours here = neighboursIn(context, instance_of_rank);
  const bool shares = native && here.members == ranks;
  std::unique_ptr<transport::Connections> connections;
  pop::Status failure;
  if (!local_ranks.empty() && !shares) {
    auto created = openConnections(context, number, instance_of_rank, local_ranks);
    if (created.ok()) connections = std::move(*created);
    failure = created.status();
  }
  if (!shares) offerAddresses(context, prefix, local_ranks, connections.get(), failure);
  if (native && !local_ranks.empty() && local_ranks.front() == here.first_rank)
    offerControlBlock(context, prefix, here.first_rank, here.members);
  const std::string settings = forced.inTag() + context.transport.inTag();
  throwIfFailed(link.fence(rendezvousTag(number, instance_of_rank) + settings, context.timeout()), kCreate);
  throwIfFailed({failure}, kCreate);
  if (local_ranks.empty()) return nullptr;
  std::vector<std::string> addresses;
  if (connections) {
    addresses = collectAddresses(context, prefix, instance_of_rank);
    throwIfFailed({connections->connect(addresses)}, kCreate);
  }

  std::unique_ptr<Group> group(new Group(context, std::move(instance_of_rank), std::move(local_ranks)));
  group->connections_ = std::move(connections);
  group->heard_.resize(addresses.size());
  for (const std::string& address : addresses)
    group->host_of_rank_.push_back(transport::Connections::hostIn(address));
  group->forced_by_messages_ = forced.by_messages;
  if (native) group->joinControlBlocks(collectControlBlocks(context, prefix, ranks), forced.in_memory);
  return group;
}

bool Group::wouldBeShared(const ContextState& context, int instances) {
  return context.num_local_instances == instances && mayShare(context, forcedAlgorithms(context));
}

void Group::joinControlBlocks(const std::vector<HostControlBlock>& control_blocks,
                              std::optional<plan::SharedAlgorithm> forced) {
  const int rank = local_ranks_.front();
  std::vector<int> members;
  for (const HostControlBlock& control_block : control_blocks) members.push_back(control_block.members);
  const plan::HostLayout layout(std::move(members), rank);
  if (layout.hosts() > 1 && layout.hosts() == size()) return;  // nobody shares anything
  const transport::SegmentView segment = context_.link->segment();
  const std::size_t offset = control_blocks[static_cast<std::size_t>(layout.host())].offset;
  const plan::StageLayout stage = plan::stageLayoutFor(layout.members());
  const std::size_t control_block_bytes = shared::ControlBlock::bytesFor(layout.members(), stage.bytes());
  if (offset % pop::contract::kPieceAlignmentBytes != 0 || control_block_bytes > segment.bytes ||
      offset > segment.bytes - control_block_bytes) {
    throwIfFailed({pop::internalError("this host's control block lies outside of its segment")}, kCreate);
  }
  const int first_rank = rank - layout.local();
  std::vector<int> neighbours_first = instance_of_rank_;
  std::rotate(neighbours_first.begin(), neighbours_first.begin() + first_rank, neighbours_first.end());
  neighbour_monitor_ =
      std::make_unique<EndNoticeMonitor>(segment.header(), std::move(neighbours_first),
                                         [this](int instance) { return nameOfInstance(instance); });
  auto calls = std::make_unique<SharedCalls>(
      shared::Engine::Place{
          .segment = segment.base,
          .segment_bytes = segment.bytes,
          .control_block = shared::ControlBlock(segment.base + offset, layout.members(), stage.bytes()),
          .layout = stage,
          .rank = layout.local(),
          .ranks = layout.members(),
          .first_rank = first_rank,
          .has_all_of_host = layout.members() == context_.num_local_instances,
          .names = [this](int member) { return nameOfRank(member); }},
      *neighbour_monitor_, oversubscribed_, forced);
  if (layout.hosts() == 1) {
    shared_ = std::move(calls);
    return;
  }
  over_hosts_ =
      std::make_unique<HierarchicalCalls>(layout, std::move(calls),
                                          [this](exec::Call call, const plan::Plan& plan, const void* input,
                                                 void* output, std::chrono::milliseconds timeout) {
                                            call.sequence = calls_ - 1;
                                            const Part part{&plan, input, output};
                                            return execute(call, {&part, 1}, timeout);
                                          });
}

// As above, in an order that lets a plugin do without fences of its own: what all have offered is there after
// one.
std::unique_ptr<Group> Group::createOnBackend(ContextState& context, std::vector<int> instance_of_rank) {
  Link& link = *context.link;
  const int number = context.groups_created++;
  const std::string prefix = rendezvousPrefix(number);
  const std::string tag = rendezvousTag(number, instance_of_rank) + " on backend " + context.backend.name;
  std::vector<int> local_ranks = ranksOf(context.instance_index, instance_of_rank);

  std::unique_ptr<Group> group;
  pop::Status failure;
  if (!local_ranks.empty()) {
    const int rank = local_ranks.front();
    group.reset(new Group(context, std::move(instance_of_rank), std::move(local_ranks)));
    const pop::Result<std::string> offered = group->joinBackend(number);
    failure = offered.status();
    offerToBackend(context, prefix, rank, ownAddress(link), offered);
  }
  throwIfFailed(link.fence(tag, context.timeout()), kCreate);
  throwIfFailed({failure}, kCreate);
  if (!group) return nullptr;
  BackendOffers offers = collectBackendOffers(context, prefix, group->instance_of_rank_);
  group->host_of_rank_ = std::move(offers.host_of_rank);
  if (const exec::Failure failed = group->backend_->connect(offers.offer_of_rank); !failed.status.ok())
    group->failCollective({kCreate, kCreate}, failed);
  return group;
}

pop::Result<std::string> Group::joinBackend(int number) {
  backend_ =
      std::make_unique<BackendGroup>(*context_.backend.plugin,
                                     BackendGroup::Member{.group_number = static_cast<std::uint64_t>(number),
                                                          .rank = local_ranks_.front(),
                                                          .instance_of_rank = instance_of_rank_,
                                                          .host_address = ownAddress(*context_.link),
                                                          .timeout = context_.timeout()},
                                     *monitor_);
  return backend_->offer();
}

}  // namespace popdist::context
