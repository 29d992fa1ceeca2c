// SPDX-License-Identifier: Apache-2.0
// All connections between a group's ranks in this process and its other ranks, over any transport.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "common/base/status.h"
#include "libpopdist/collectives/messages/transport/transport.h"

namespace popdist::transport {

class Connections {
 public:
  virtual ~Connections() = default;

  /// The address at which others reach local rank `rank`. Any bytes; if the rank is reached over a network,
  /// kBeforeHost, its host and a space are part of it.
  virtual std::string address(int rank) const = 0;
  static constexpr char kBeforeHost = '|';
  /// The numeric host in an address(); "" if the rank is not reached over a network.
  static std::string hostIn(const std::string& address) {
    const std::string from_host = address.substr(std::min(address.find(kBeforeHost), address.size() - 1) + 1);
    return from_host.substr(0, from_host.find(' '));
  }

  /// `addresses[r]` is the address of rank r, for all ranks of the group. Once, before any endpoint is used.
  virtual pop::Status connect(std::span<const std::string> addresses) = 0;

  /// After an error: sends the abort message to all connected peers. Nothing can be sent or received
  /// afterwards. `to_all`: also connects to peers that are not connected yet, which may take a while.
  virtual void abandon(std::span<const std::byte> abort_message, bool to_all) = 0;

  virtual Endpoint& endpoint(int local_rank) = 0;
  virtual Sleeper& sleeper() = 0;
  /// True if messages between some ranks cost as much as over a network.
  virtual bool overNetwork() const = 0;
};

}  // namespace popdist::transport
