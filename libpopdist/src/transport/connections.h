// SPDX-License-Identifier: Apache-2.0
// All connections of a group's ranks in this process to the group's other ranks, whatever they go over.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "common/base/status.h"
#include "libpopdist/src/transport/transport.h"

namespace popdist::transport {

class Connections {
 public:
  virtual ~Connections() = default;

  /// What the others need to reach local rank `rank`: any bytes; kBeforeHost stands before its host, if it is
  /// reached over a network, and a space behind that.
  virtual std::string address(int rank) const = 0;
  static constexpr char kBeforeHost = '|';
  /// The host of an address(), numeric; "" if it is not reached over a network.
  static std::string hostIn(const std::string& address) {
    const std::string from_host = address.substr(std::min(address.find(kBeforeHost), address.size() - 1) + 1);
    return from_host.substr(0, from_host.find(' '));
  }

  /// `addresses[r]` is the address of rank r, for all ranks of the group. Once, before any endpoint is used.
  virtual pop::Status connect(std::span<const std::string> addresses) = 0;

  /// After an error: sends the abort message to whoever is connected. Nothing can be sent or received any
  /// more. `to_all`: also to those who may have to be connected for it, which may take a while.
  virtual void abandon(std::span<const std::byte> abort_message, bool to_all) = 0;

  virtual Endpoint& endpoint(int local_rank) = 0;
  virtual Sleeper& sleeper() = 0;
  /// Messages between some ranks cost as much as over a network.
  virtual bool overNetwork() const = 0;
};

}  // namespace popdist::transport
