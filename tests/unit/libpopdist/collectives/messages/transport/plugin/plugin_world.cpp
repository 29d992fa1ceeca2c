// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/libpopdist/collectives/messages/transport/plugin/plugin_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace popdist::transport {
namespace {

// What the plugin's offer, which knows nothing but a group's number, belongs to.
PluginWorld* being_made = nullptr;
PopdistStatus offering{};

std::string addressOf(int rank) {
  return std::string("|\0 ", 3) + std::to_string(rank);
}

}  // namespace

struct PluginWorld::Calls {
  static Rank& rankAt(void* group) { return *static_cast<Rank*>(group); }

  static void offer(const PopdistGroupInfo* info, void** group, char* address, std::size_t* address_bytes,
                    PopdistStatus* status) {
    *status = offering;
    if (status->code != 0) return;
    const std::string own = addressOf(info->rank);
    EXPECT_GE(*address_bytes, 1024U);
    std::memcpy(address, own.data(), own.size());
    *address_bytes = own.size();
    Rank& self = being_made->ranks_[static_cast<std::size_t>(info->rank)];
    self = {.world = being_made, .info = info};
    *group = &self;
  }

  static void connect(void* group, const char* const* addresses, const std::size_t* address_bytes,
                      PopdistStatus* status) {
    const Rank& self = rankAt(group);
    for (std::int32_t rank = 0; rank < self.info->ranks; ++rank)
      EXPECT_EQ(std::string(addresses[rank], address_bytes[rank]), addressOf(rank));
    *status = self.world->connecting_;
    std::array<char, 64> text{};
    if (self.info->ended(self.info->library, text.data(), text.size()) == 0) return;
    *status = {.code = static_cast<std::int32_t>(pop::Code::kUnavailable), .message = {}};
    std::memcpy(status->message, text.data(), text.size());
  }

  static std::size_t trySend(void* group, std::int32_t to, const void* first, std::size_t first_bytes,
                             const void* second, std::size_t second_bytes) {
    const Rank& self = rankAt(group);
    PluginWorld& world = *self.world;
    const std::lock_guard lock(world.mutex_);
    Channel& channel = world.channel(self.info->rank, to);
    const std::size_t room = world.capacity_ - std::min(world.capacity_, channel.sent.size());
    const std::size_t most = std::min({room, first_bytes + second_bytes, world.most_piece_});
    if (most == 0) return 0;
    const std::size_t bytes = 1 + world.random_.below(most);
    const std::size_t of_first = std::min(bytes, first_bytes);
    const auto append = [&](const void* data, std::size_t count) {
      const auto* const begin = static_cast<const std::byte*>(data);
      channel.sent.insert(channel.sent.end(), begin, begin + count);
    };
    append(first, of_first);
    append(second, bytes - of_first);
    world.changed();
    return bytes;
  }

  static const void* tryReceive(void* group, std::int32_t from, std::size_t* bytes) {
    const Rank& self = rankAt(group);
    PluginWorld& world = *self.world;
    const std::lock_guard lock(world.mutex_);
    Channel& channel = world.channel(from, self.info->rank);
    if (channel.released == channel.shown.size() && !channel.sent.empty()) {
      const std::size_t count = 1 + world.random_.below(std::min(channel.sent.size(), world.most_piece_));
      const auto end = channel.sent.begin() + static_cast<std::ptrdiff_t>(count);
      channel.shown.assign(channel.sent.begin(), end);
      channel.sent.erase(channel.sent.begin(), end);
      channel.released = 0;
      world.changed();
    }
    *bytes = channel.shown.size() - channel.released;
    return channel.shown.data() + channel.released;
  }

  static void release(void* group, std::int32_t from, std::size_t bytes) {
    const Rank& self = rankAt(group);
    Channel& channel = self.world->channel(from, self.info->rank);
    EXPECT_LE(bytes, channel.shown.size() - channel.released);
    channel.released += bytes;
  }

  static std::int32_t isDelivered(void* group, std::int32_t) {
    PluginWorld& world = *rankAt(group).world;
    const std::lock_guard lock(world.mutex_);
    return world.delivers_ ? 1 : 0;
  }

  static std::int32_t isLost(void* group, std::int32_t peer, PopdistStatus* why, const void** last,
                             std::size_t* last_bytes) {
    const Rank& self = rankAt(group);
    PluginWorld& world = *self.world;
    const std::lock_guard lock(world.mutex_);
    const auto& lost = world.ranks_[static_cast<std::size_t>(peer)].lost;
    if (lost) *why = *lost;
    if (lost) return 1;
    const auto& words = world.channel(peer, self.info->rank).last;
    if (!words) return 0;
    *last = words->data();
    *last_bytes = words->size();
    *why = {.code = static_cast<std::int32_t>(pop::Code::kUnavailable), .message = "it has closed"};
    return 1;
  }

  static void wait(void* group, std::int64_t timeout_ms) {
    Rank& self = rankAt(group);
    PluginWorld& world = *self.world;
    std::unique_lock lock(world.mutex_);
    world.change_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                           [&] { return world.changes_ != self.seen; });
    self.seen = world.changes_;
  }

  static void close(void* group, std::int32_t to, const void* last, std::size_t last_bytes) {
    Rank& self = rankAt(group);
    PluginWorld& world = *self.world;
    const std::lock_guard lock(world.mutex_);
    Channel& channel = world.channel(self.info->rank, to);
    const auto* const begin = static_cast<const std::byte*>(last);
    channel.last.emplace(begin, begin + last_bytes);
    self.closed.push_back(to);
    world.changed();
  }

  static void destroy(void* group) { rankAt(group) = {}; }

  static const PopdistBackend& backend() {
    static const PopdistBackend backend{.version = kPopdistBackendVersion,
                                        .name = "bytes",
                                        .offer = &offer,
                                        .connect = &connect,
                                        .try_send = &trySend,
                                        .try_recv = &tryReceive,
                                        .release = &release,
                                        .delivered = &isDelivered,
                                        .lost = &isLost,
                                        .wait = &wait,
                                        .close = &close,
                                        .destroy = &destroy};
    return backend;
  }

  static PluginSetup setupOf(int rank, int ranks) {
    PluginSetup setup{.plugin = &backend(), .rank = rank, .own_address = "10.0.0.1"};
    for (int instance = 0; instance < ranks; ++instance) setup.instance_of_rank.push_back(10 + instance);
    setup.ended = [] { return std::nullopt; };
    return setup;
  }
};

PluginWorld::PluginWorld(int ranks, std::size_t most_piece, std::size_t capacity)
    : most_piece_(most_piece),
      capacity_(capacity),
      ranks_(static_cast<std::size_t>(ranks)),
      channels_(ranks_.size() * ranks_.size()) {
  being_made = this;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < ranks; ++rank) {
    connections_.push_back(PluginConnections::create(Calls::setupOf(rank, ranks)).value());
    addresses.push_back(connections_.back()->address(rank));
  }
  for (const auto& each : connections_) EXPECT_TRUE(each->connect(addresses).ok());
}

PluginWorld::~PluginWorld() {
  connections_.clear();
  for (const Rank& rank : ranks_) EXPECT_EQ(rank.world, nullptr) << "not destroyed";
}

pop::Result<std::unique_ptr<Connections>> PluginWorld::makeOne(const PopdistStatus& answer) {
  offering = answer;
  auto made = PluginConnections::create(Calls::setupOf(0, 1));
  offering = {};
  return made;
}

pop::Status PluginWorld::connectAnew(const PopdistStatus& answer, const std::optional<std::string>& ended) {
  PluginWorld world(1);
  world.connecting_ = answer;
  being_made = &world;
  PluginSetup setup = Calls::setupOf(0, 1);
  setup.ended = [&] { return ended; };
  world.connections_.clear();
  world.connections_.push_back(PluginConnections::create(setup).value());
  const std::string address = world.connections(0).address(0);
  return world.connections(0).connect({&address, 1});
}

void PluginWorld::changed() {
  ++changes_;
  change_.notify_all();
}

void PluginWorld::setDelivers(bool delivers) {
  const std::lock_guard lock(mutex_);
  delivers_ = delivers;
  changed();
}

void PluginWorld::lose(int rank, const PopdistStatus& why) {
  const std::lock_guard lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)].lost = why;
  changed();
}

}  // namespace popdist::transport
