// SPDX-License-Identifier: Apache-2.0
// The entry of joined hosts' streams, as an interface: gRPC only carries it. Messages:
// proto/popdist/v1/host.proto. All of it is called on the loop's thread.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// The daemon's end of one host's stream.
class HostChannel {
 public:
  virtual ~HostChannel() = default;

  /// In order; ignored after the stream's end.
  virtual void send(v1::HostOrder order) = 0;

  /// Ends the stream, with the reason for the host; HostGate::left() does not follow.
  virtual void close(Status why) = 0;
};

class HostGate {
 public:
  virtual ~HostGate() = default;

  /// A host's first message. `address`: where it comes from. The transport has checked that the host's
  /// certificate has its name. An error refuses the host, and is the stream's status.
  virtual Status joined(const v1::HostJoins& joins, const std::string& address,
                        std::shared_ptr<HostChannel> channel) = 0;

  /// Each further message, in order.
  virtual void said(HostChannel& channel, v1::HostReport report) = 0;

  /// The stream has ended, and not by HostChannel::close().
  virtual void left(HostChannel& channel, const Status& why) = 0;
};

}  // namespace pop::popdistd
