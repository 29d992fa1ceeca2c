// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/calls/backend/backend_group.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace popdist::calls {
namespace {

using plan::Operation;

constexpr std::size_t kMostAddressBytes = 1024;

constexpr bool sameNumber(Operation ours, PopdistOperation theirs) {
  return static_cast<std::uint32_t>(ours) == theirs;
}
static_assert(sameNumber(Operation::kAllReduce, kPopdistAllReduce) &&
                  sameNumber(Operation::kReduceScatter, kPopdistReduceScatter) &&
                  sameNumber(Operation::kAllGather, kPopdistAllGather) &&
                  sameNumber(Operation::kBroadcast, kPopdistBroadcast) &&
                  sameNumber(Operation::kAllToAll, kPopdistAllToAll) &&
                  sameNumber(Operation::kBarrier, kPopdistBarrier) &&
                  sameNumber(Operation::kReduce, kPopdistReduce) &&
                  sameNumber(Operation::kGather, kPopdistGather) &&
                  sameNumber(Operation::kScatter, kPopdistScatter) &&
                  sameNumber(Operation::kSendRecv, kPopdistSendRecv),
              "the conversion between the two is a cast");

}  // namespace

BackendGroup::BackendGroup(const PopdistBackend& plugin, const Member& member, const group::Members& members)
    : plugin_(plugin),
      monitor_(members),
      instance_of_rank_(members.instances().begin(), members.instances().end()),
      host_address_(member.host_address),
      info_{.number = member.group_number,
            .rank = members.localRanks().front(),
            .ranks = static_cast<std::int32_t>(instance_of_rank_.size()),
            .instances = instance_of_rank_.data(),
            .host_address = host_address_.c_str(),
            .timeout_ms = member.timeout.count(),
            .library = this,
            .ended = &BackendGroup::ended,
            .time_is_up = &BackendGroup::timeIsUp} {}

// Not in a forked child: the plugin's threads are not there, its connections are the parent's.
BackendGroup::~BackendGroup() {
  if (group_ != nullptr && fork_ == pop::sys::forksOfThisProcess()) plugin_.destroy(group_);
}

pop::Result<std::string> BackendGroup::offer() {
  std::string address(kMostAddressBytes, '\0');
  std::size_t bytes = address.size();
  PopdistStatus status{};
  plugin_.offer(&info_, &group_, address.data(), &bytes, &status);
  if (const exec::Failure failure = failureOf(status); !failure.status.ok()) return failure.status;
  address.resize(std::min(bytes, address.size()));
  return address;
}

exec::Failure BackendGroup::connect(const std::vector<std::string>& addresses) {
  std::vector<const char*> starts;
  std::vector<std::size_t> sizes;
  for (const std::string& address : addresses) {
    starts.push_back(address.data());
    sizes.push_back(address.size());
  }
  PopdistStatus status{};
  plugin_.connect(group_, starts.data(), sizes.data(), &status);
  return failureOf(status);
}

bool BackendGroup::run(const group::CollectiveCall& call) {
  const std::string tensor(call.tensor);
  const PopdistCall plain{.operation = static_cast<std::uint32_t>(call.operation),
                          .type = static_cast<std::uint32_t>(call.type),
                          .op = static_cast<std::uint32_t>(call.op),
                          .root = call.root,
                          .input = call.input,
                          .output = call.output,
                          .count = call.ragged ? 0 : call.count,
                          .counts = call.counts.data(),
                          .recv_counts = call.recv_counts.data(),
                          .tensor = tensor.c_str(),
                          .timeout_ms = call.timeout.count(),
                          .to = call.partners.to,
                          .from = call.partners.from,
                          .send_count = call.partners.send_count,
                          .recv_count = call.partners.recv_count};
  PopdistStatus status{};
  plugin_.run(group_, &plain, &status);
  failure_ = failureOf(status);
  return failure_.status.ok();
}

// The plugin calls these two: nothing may be thrown through it. It asks again.
std::int32_t BackendGroup::ended(void* self, const std::int32_t* awaited, std::int32_t count, char* text,
                                 std::size_t text_bytes) try {
  auto& group = *static_cast<BackendGroup*>(self);
  if (!group.monitor_.anyEnded()) return -1;
  const auto loss = group.monitor_.loss(std::span<const int>(awaited, static_cast<std::size_t>(count)));
  if (!loss) return -1;
  const std::size_t bytes = std::min(loss->text.size(), text_bytes - 1);
  std::memcpy(text, loss->text.data(), bytes);
  text[bytes] = '\0';
  const auto& instances = group.instance_of_rank_;
  return static_cast<std::int32_t>(std::find(instances.begin(), instances.end(), loss->instance) -
                                   instances.begin());
} catch (...) {
  return -1;
}

std::int32_t BackendGroup::timeIsUp(void* self) try {
  const auto& deadline = static_cast<BackendGroup*>(self)->moving_deadline_;
  return deadline && pop::sys::AwakeClock::now() >= deadline() ? 1 : 0;
} catch (...) {
  return 0;
}

exec::Failure BackendGroup::failureOf(const PopdistStatus& status) const {
  if (status.code == 0) return {};
  const bool known = status.code > 0 && status.code <= static_cast<std::int32_t>(pop::Code::kDataLoss);
  const bool has_peer = status.peer_rank >= 0 && status.peer_rank < info_.ranks;
  const std::size_t bytes = ::strnlen(status.message, sizeof(status.message));
  return {.status = {known ? static_cast<pop::Code>(status.code) : pop::Code::kUnknown,
                     std::string(status.message, bytes)},
          .peer_rank = has_peer ? status.peer_rank : -1};
}

}  // namespace popdist::calls
