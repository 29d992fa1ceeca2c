// SPDX-License-Identifier: Apache-2.0
// One connection of the server: frames in, frames out, never waiting.
#pragma once

#include <optional>
#include <string>

#include "common/contract/frame.h"
#include "common/sys/fd.h"
#include "libpopdist/collectives/cluster/link/wire.h"

namespace popdist::cluster {

/// A host that is gone without a word is noticed after so long (seconds), by the kernel's probes.
inline constexpr int kSilenceSeconds = 15;
/// For both ends of a connection between hosts.
void watchForSilence(int socket);

class PeerSocket {
 public:
  explicit PeerSocket(pop::sys::Fd socket) : socket_(std::move(socket)), reader_(kMostHelloBytes) {}

  int fd() const { return socket_.get(); }
  /// Receives what has come. False: the other end is gone.
  bool receive();
  /// The next whole frame. Not ok: what has come is no frame.
  pop::Result<std::optional<pop::contract::Frame>> next() { return reader_.next(); }
  /// The other end has proved to be an instance: its frames may be large.
  void trust() { reader_.setMostBytes(pop::contract::kMaxFrameBytes); }

  /// Sends as much as goes, keeps the rest for flush(). False: the connection is lost, and the rest dropped.
  bool send(Message type, std::vector<std::string> fields);
  bool flush();
  bool hasUnsent() const { return sent_ < out_.size(); }

 private:
  bool drop();

  pop::sys::Fd socket_;
  pop::contract::FrameReader reader_;
  std::string out_;
  std::size_t sent_ = 0;
};

}  // namespace popdist::cluster
