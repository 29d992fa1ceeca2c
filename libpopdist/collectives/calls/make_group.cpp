// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/calls/make_group.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "libpopdist/collectives/calls/hosts/hierarchical_calls.h"
#include "libpopdist/collectives/calls/messages/message_calls.h"
#include "libpopdist/collectives/calls/shared/shared_calls.h"
#include "libpopdist/collectives/group/end_notice_monitor.h"
#include "libpopdist/collectives/group/rendezvous.h"
#include "libpopdist/collectives/messages/transport/native_connections.h"
#include "libpopdist/collectives/messages/transport/plugin/plugin_connections.h"
#include "popdist/error.hpp"

namespace popdist::calls {

using choice::ForcedAlgorithms;
using context::ContextState;
using context::HostNetwork;
using context::throwIfFailed;
using group::Group;
using group::HostControlBlock;
using group::kCreate;
using group::Members;

namespace {

using Opened = pop::Result<std::unique_ptr<transport::Connections>>;

// The address at which a backend's members reach this host. A job on one host has no other address.
std::string ownAddress(const context::Link& link) {
  const std::string address = link.network().address;
  return address.empty() ? "127.0.0.1" : address;
}

pop::Result<transport::Key> keyOf(const HostNetwork& network) {
  transport::Key key;
  if (network.job_key.size() != key.size()) {
    return pop::failedPrecondition(
        "this host's agent sent no key for connections to other hosts; is it of another version?");
  }
  std::memcpy(key.data(), network.job_key.data(), key.size());
  return key;
}

// The forced algorithms for communicators that are made now. Throws popdist_error.
ForcedAlgorithms forcedAlgorithms(const ContextState& context) {
  if (context.forced) return *context.forced;
  pop::Result<ForcedAlgorithms> forced = choice::forcedByEnvironment();
  throwIfFailed({forced.status()}, kCreate);
  return *forced;
}

bool mayShare(const ContextState& context, const ForcedAlgorithms& forced) {
  return !forced.messages && !context.transport.tcp_only;
}

// The ranks on this host, which are consecutive.
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

// Makes one group: the members put their offers, meet in a fence, and build the group from all offers.
class GroupMaker {
 public:
  GroupMaker(ContextState& context, std::vector<int> instance_of_rank, const std::string& name = {})
      : context_(context),
        members_(std::make_unique<Members>(context, std::move(instance_of_rank))),
        rendezvous_(context, *members_, name) {}

  std::unique_ptr<Group> makeNative(const ForcedAlgorithms& forced);
  MessageGroup makeMessages(const ForcedAlgorithms& forced);
  std::unique_ptr<Group> makeOnBackend(const ForcedAlgorithms& forced);

 private:
  using Open = Opened (GroupMaker::*)() const;
  MessageGroup makeMessages(Open open, const std::string& backend, const ForcedAlgorithms& forced);
  void offerConnections(Open open, const std::string& backend);
  void connect();
  void meet(const ForcedAlgorithms& forced);
  bool isMember() const { return !members_->localRanks().empty(); }
  Opened openNative() const;
  Opened openOnPlugin() const;
  std::unique_ptr<MessageCalls> messageCalls(const ForcedAlgorithms& forced);
  transport::PieceUse useOf(const HostControlBlock& block) const;
  std::unique_ptr<SharedCalls> sharedCalls(const plan::HostLayout& layout, const HostControlBlock& block,
                                           const ForcedAlgorithms& forced);
  std::unique_ptr<Group> groupOf(std::unique_ptr<group::CallPath> path) {
    return std::make_unique<Group>(context_, std::move(members_), std::move(path));
  }

  ContextState& context_;
  std::unique_ptr<Members> members_;
  group::Rendezvous rendezvous_;
  std::unique_ptr<transport::Connections> connections_;
  pop::Status failure_;  ///< local to this member until the fence has opened
};

// ---- offers

Opened GroupMaker::openNative() const {
  transport::NativeSetup setup{.segment = context_.link->segment(),
                               .local_ranks = members_->localRanks(),
                               .call_timeout = context_.transport.call_timeout};
  bool over_network = false;
  for (const int instance : members_->instances()) {
    setup.through_memory.push_back(context_.isLocal(instance) && !context_.transport.tcp_only);
    over_network |= !setup.through_memory.back();
  }
  if (over_network) {
    const HostNetwork network = context_.link->network();
    POP_ASSIGN_OR_RETURN(setup.tcp.job, keyOf(network));
    setup.tcp.own_address = network.address;
    setup.tcp.group = static_cast<std::uint32_t>(rendezvous_.number());
    setup.tcp.streams = context_.transport.tcp_streams;
    setup.tcp.congestion_control = context_.transport.tcp_congestion_control;
  }
  return transport::NativeConnections::create(setup);
}

Opened GroupMaker::openOnPlugin() const {
  const int rank = members_->localRanks().front();
  std::vector<int> others(static_cast<std::size_t>(members_->size()));
  std::iota(others.begin(), others.end(), 0);
  std::erase(others, rank);
  group::EndNoticeMonitor monitor(*members_);
  return transport::PluginConnections::create({.plugin = context_.backend.plugin,
                                               .group = static_cast<std::uint64_t>(rendezvous_.number()),
                                               .rank = rank,
                                               .instance_of_rank = members_->instances(),
                                               .own_address = ownAddress(*context_.link),
                                               .timeout = context_.timeout(),
                                               .ended = [monitor, others]() mutable {
                                                 const auto loss = monitor.loss(others);
                                                 return loss ? std::optional(loss->text) : std::nullopt;
                                               }});
}

void GroupMaker::offerConnections(Open open, const std::string& backend) {
  if (!isMember()) return;
  rendezvous_.agreeOnNumber();
  members_->setNumber(rendezvous_.number());
  Opened created = (this->*open)();
  if (created.ok()) connections_ = std::move(*created);
  failure_ = created.status();
  rendezvous_.offerAddresses(backend, connections_.get(), failure_);
}

void GroupMaker::meet(const ForcedAlgorithms& forced) {
  rendezvous_.meet(forced.inTag() + context_.transport.inTag());
  members_->setNumber(rendezvous_.number());
  throwIfFailed({failure_}, kCreate);
}

void GroupMaker::connect() {
  const std::vector<std::string> addresses = rendezvous_.addresses();
  throwIfFailed({connections_->connect(addresses)}, kCreate);
  std::vector<std::string> host_of_rank;
  for (const std::string& address : addresses)
    host_of_rank.push_back(transport::Connections::hostIn(address));
  members_->setHosts(std::move(host_of_rank));
}

// ---- paths

std::unique_ptr<MessageCalls> GroupMaker::messageCalls(const ForcedAlgorithms& forced) {
  auto runner = std::make_unique<MessageRunner>(*members_, std::move(connections_));
  return std::make_unique<MessageCalls>(std::move(runner), forced.by_messages);
}

transport::PieceUse GroupMaker::useOf(const HostControlBlock& block) const {
  const transport::SegmentView segment = context_.link->segment();
  const std::size_t bytes =
      shared::ControlBlock::bytesFor(block.members, plan::stageLayoutFor(block.members).bytes());
  if (!segment.hasPiece(block.offset, bytes))
    throwIfFailed({pop::internalError("this host's control block lies outside its segment")}, kCreate);
  return {segment, block.offset, bytes};
}

// Uses the control block of this host.
std::unique_ptr<SharedCalls> GroupMaker::sharedCalls(const plan::HostLayout& layout,
                                                     const HostControlBlock& block,
                                                     const ForcedAlgorithms& forced) {
  transport::PieceUse use = useOf(block);
  const transport::SegmentView segment = context_.link->segment();
  const plan::StageLayout stage = plan::stageLayoutFor(layout.members());
  const int first_rank = layout.firstRankOf(layout.host());
  return std::make_unique<SharedCalls>(
      shared::Place{
          .segment = segment,
          .control_block = shared::ControlBlock(segment.base + block.offset, layout.members(), stage.bytes()),
          .layout = stage,
          .rank = layout.local(),
          .ranks = layout.members(),
          .first_rank = first_rank,
          .has_all_of_host = layout.members() == context_.num_local_instances,
          .host_cores = context_.link->hostCores(),
          .names = members_->names()},
      *members_, forced.in_memory, std::move(use));
}

// ---- groups

MessageGroup GroupMaker::makeMessages(const ForcedAlgorithms& forced) {
  return makeMessages(&GroupMaker::openNative, context::kNativeBackend, forced);
}

// A plugin needs no fences of its own: after the group's fence all offers are there.
std::unique_ptr<Group> GroupMaker::makeOnBackend(const ForcedAlgorithms& forced) {
  return makeMessages(&GroupMaker::openOnPlugin, context_.backend.name, forced).group;
}

MessageGroup GroupMaker::makeMessages(Open open, const std::string& backend, const ForcedAlgorithms& forced) {
  offerConnections(open, backend);
  meet(forced);
  if (!isMember()) return {};
  connect();
  std::unique_ptr<MessageCalls> calls = messageCalls(forced);
  MessageRunner* const runner = &calls->runner();
  return {groupOf(std::move(calls)), runner};
}

std::unique_ptr<Group> GroupMaker::makeNative(const ForcedAlgorithms& forced) {
  if (!mayShare(context_, forced)) return makeMessages(forced).group;
  const Neighbours here = neighboursIn(context_, members_->instances());
  const bool one_host = here.members == members_->size();
  if (!one_host) offerConnections(&GroupMaker::openNative, context::kNativeBackend);
  if (isMember() && members_->localRanks().front() == here.first_rank)
    rendezvous_.offerControlBlock(here.first_rank, here.members);
  meet(forced);
  if (!isMember()) return nullptr;
  if (!one_host) connect();

  const std::vector<HostControlBlock> blocks = rendezvous_.controlBlocks();
  std::vector<int> members_of_host;
  for (const HostControlBlock& block : blocks) members_of_host.push_back(block.members);
  const plan::HostLayout layout(std::move(members_of_host), members_->localRanks().front());
  const bool alone = layout.hosts() > 1 && layout.hosts() == members_->size();
  const HostControlBlock& block = blocks[static_cast<std::size_t>(layout.host())];
  if (alone) {
    useOf(block);  // it is not needed, and so given back
    return groupOf(messageCalls(forced));
  }
  std::unique_ptr<SharedCalls> inside = sharedCalls(layout, block, forced);
  if (layout.hosts() == 1) return groupOf(std::move(inside));
  return groupOf(std::make_unique<HierarchicalCalls>(layout, std::move(inside), messageCalls(forced)));
}

}  // namespace

std::unique_ptr<Group> makeNativeGroup(ContextState& context, std::vector<int> instance_of_rank,
                                       const std::string& name) {
  const ForcedAlgorithms forced = forcedAlgorithms(context);
  return GroupMaker(context, std::move(instance_of_rank), name).makeNative(forced);
}

std::unique_ptr<Group> makeBackendGroup(ContextState& context, std::vector<int> instance_of_rank,
                                        const std::string& name) {
  const ForcedAlgorithms forced = forcedAlgorithms(context);
  return GroupMaker(context, std::move(instance_of_rank), name).makeOnBackend(forced);
}

MessageGroup makeMessageGroup(ContextState& context, std::vector<int> instance_of_rank) {
  const ForcedAlgorithms forced = forcedAlgorithms(context);
  return GroupMaker(context, std::move(instance_of_rank)).makeMessages(forced);
}

bool wouldShareMemory(const ContextState& context, int instances) {
  return context.num_local_instances == instances && mayShare(context, forcedAlgorithms(context));
}

}  // namespace popdist::calls
