// SPDX-License-Identifier: Apache-2.0
// The connection of this rank with a peer over a backend's plugin, which cuts what it moves as it likes.
#pragma once

#include <array>

#include "libpopdist/collectives/messages/transport/transport.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::transport {

class PluginStream final : public Connection {
 public:
  /// `group` is the plugin's, which has been connected before the stream is used.
  PluginStream(const PopdistBackend& plugin, void* group, int peer)
      : plugin_(plugin), group_(group), peer_(peer) {}

  std::size_t trySend(std::span<const std::byte> bytes) override { return trySendBoth(bytes, {}); }
  std::size_t trySendBoth(std::span<const std::byte> first, std::span<const std::byte> second) override;
  void finishSend() override {}
  void fetch(std::size_t most) override;
  std::span<const std::byte> peek() override;
  void consume(std::size_t bytes) override;
  std::size_t tryReceive(std::span<std::byte> into) override;
  void finishReceive() override {}
  void abandon(std::span<const std::byte> abort_message) override;
  pop::Status failure() const override;
  std::span<const std::byte> abortMessage() override;

  bool isDelivered() const { return plugin_.delivered(group_, peer_) != 0; }

 private:
  struct Loss {
    pop::Status why;
    std::span<const std::byte> last;
  };
  Loss loss() const;
  bool look();
  void release(std::size_t bytes);

  const PopdistBackend& plugin_;
  void* const group_;
  const int peer_;
  std::span<const std::byte> piece_;  ///< the plugin's last piece, as far as it is not released
  // Data that the plugin cut but that must be contiguous, copied together: comes before piece_.
  std::array<std::byte, kPartAlignmentBytes> joined_{};
  std::size_t joined_bytes_ = 0;
};

}  // namespace popdist::transport
