// SPDX-License-Identifier: Apache-2.0
// The connections of the one local rank of a group over a backend's plugin.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/sys/forks.h"
#include "libpopdist/collectives/messages/transport/connections.h"
#include "libpopdist/collectives/messages/transport/plugin/plugin_stream.h"

namespace popdist::transport {

struct PluginSetup {
  const PopdistBackend* plugin = nullptr;
  std::uint64_t group = 0;  ///< among the job's groups
  int rank = 0;
  std::vector<int> instance_of_rank;
  std::string own_address;               ///< numeric, of this host, at which the others reach it
  std::chrono::milliseconds timeout{0};  ///< for connect()
  /// Returns which other instance has ended and how, while connect() waits; nothing if none has. From any
  /// thread.
  std::function<std::optional<std::string>()> ended;
};

class PluginConnections final : public Connections, private Endpoint, private Sleeper {
 public:
  /// Fails with the plugin's reason for having no address to offer.
  static pop::Result<std::unique_ptr<Connections>> create(PluginSetup setup);
  ~PluginConnections() override;

  std::string address(int rank) const override;
  pop::Status connect(std::span<const std::string> addresses) override;
  /// Takes up to kAbortTimeout if peers do not receive it. A message that all peers know already need not be
  /// sent.
  void abandon(std::span<const std::byte> abort_message, bool to_all) override;
  Endpoint& endpoint(int) override { return *this; }
  Sleeper& sleeper() override { return *this; }
  bool overNetwork() const override { return true; }

 private:
  static constexpr std::chrono::milliseconds kAbortTimeout{300};

  explicit PluginConnections(PluginSetup setup);
  static std::int32_t ended(void* self, char* text, std::size_t text_bytes);

  Connection& peer(int rank) override { return streams_[static_cast<std::size_t>(rank)]; }
  void appendUndelivered(std::vector<int>& ranks) override;

  int spins() const override { return 0; }
  void prepare() override {}
  void waitForRing(std::chrono::milliseconds limit) override { setup_.plugin->wait(group_, limit.count()); }
  void cancel() override {}

  const PluginSetup setup_;
  const PopdistGroupInfo info_;
  void* group_ = nullptr;
  std::string offered_;
  std::vector<PluginStream> streams_;  ///< streams by rank; this rank's own is not used
  const unsigned fork_ = pop::sys::forksOfThisProcess();
};

}  // namespace popdist::transport
