// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/plugin/plugin_connections.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/collectives/messages/transport/plugin/plugin_status.h"

namespace popdist::transport {
namespace {

constexpr std::size_t kMaxAddressBytes = 1024;

}  // namespace

PluginConnections::PluginConnections(PluginSetup setup)
    : setup_(std::move(setup)),
      info_{.number = setup_.group,
            .rank = setup_.rank,
            .ranks = static_cast<std::int32_t>(setup_.instance_of_rank.size()),
            .instances = setup_.instance_of_rank.data(),
            .host_address = setup_.own_address.c_str(),
            .timeout_ms = setup_.timeout.count(),
            .library = this,
            .ended = &PluginConnections::ended} {}

// Not in a forked child: the plugin's threads do not exist there, and its connections belong to the parent.
PluginConnections::~PluginConnections() {
  if (group_ != nullptr && fork_ == pop::sys::forksOfThisProcess()) setup_.plugin->destroy(group_);
}

pop::Result<std::unique_ptr<Connections>> PluginConnections::create(PluginSetup setup) {
  std::unique_ptr<PluginConnections> result(new PluginConnections(std::move(setup)));
  std::string& offered = result->offered_;
  offered.resize(kMaxAddressBytes);
  std::size_t bytes = offered.size();
  PopdistStatus status{};
  result->setup_.plugin->offer(&result->info_, &result->group_, offered.data(), &bytes, &status);
  POP_RETURN_IF_ERROR(statusOf(status));
  offered.resize(std::min(bytes, offered.size()));
  return std::unique_ptr<Connections>(std::move(result));
}

std::string PluginConnections::address(int) const {
  return kBeforeHost + setup_.own_address + ' ' + offered_;
}

pop::Status PluginConnections::connect(std::span<const std::string> addresses) {
  std::vector<const char*> starts;
  std::vector<std::size_t> sizes;
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    const std::string& address = addresses[rank];
    const std::size_t before = std::min(address.find(' '), address.size() - 1) + 1;
    starts.push_back(address.data() + before);
    sizes.push_back(address.size() - before);
    streams_.emplace_back(*setup_.plugin, group_, static_cast<int>(rank));
  }
  PopdistStatus status{};
  setup_.plugin->connect(group_, starts.data(), sizes.data(), &status);
  return statusOf(status);
}

void PluginConnections::abandon(std::span<const std::byte> abort_message, bool to_all) {
  if (!to_all) return;
  for (int rank = 0; rank < info_.ranks; ++rank) {
    if (rank != info_.rank) peer(rank).abandon(abort_message);
  }
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + kAbortTimeout;
  for (std::vector<int> undelivered;; undelivered.clear()) {
    appendUndelivered(undelivered);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (undelivered.empty() || left.count() <= 0) return;
    setup_.plugin->wait(group_, left.count());
  }
}

void PluginConnections::appendUndelivered(std::vector<int>& ranks) {
  for (int rank = 0; rank < info_.ranks; ++rank) {
    if (rank != info_.rank && !streams_[static_cast<std::size_t>(rank)].isDelivered()) ranks.push_back(rank);
  }
}

// The plugin calls this, so it must not throw. The plugin will ask again.
std::int32_t PluginConnections::ended(void* self, char* text, std::size_t text_bytes) try {
  const auto who = static_cast<PluginConnections*>(self)->setup_.ended();
  if (!who) return 0;
  const std::size_t bytes = std::min(who->size(), text_bytes - 1);
  std::memcpy(text, who->data(), bytes);
  text[bytes] = '\0';
  return 1;
} catch (...) {
  return 0;
}

}  // namespace popdist::transport
