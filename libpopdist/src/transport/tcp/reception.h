// SPDX-License-Identifier: Apache-2.0
// Who knocks at a group's listening socket: members of the job prove it and are let in, unauthenticated
// clients are turned away. Until then they cost a socket, a few hundred at most; who says nothing for 10 s,
// or for a second where there is no room for others, is sent away when ranks look again.
#pragma once

#include <chrono>
#include <functional>
#include <list>

#include "libpopdist/src/transport/tcp/tcp_stream.h"

namespace popdist::transport {

class Reception {
 public:
  /// Hands over a stream of a member; false: not one that is wanted.
  using Admit = std::function<bool(const Introduction&, AcceptedStream)>;

  Reception(const Key& job, pop::sys::Fd listener, SocketSleeper& sleeper, Admit admit)
      : job_(job), listener_(std::move(listener)), sleeper_(sleeper), admit_(std::move(admit)) {}

  /// Gets on with all who have come, without waiting. For ranks that lack a stream.
  void receive();

  /// Why not all could be let in when it was tried last: this process is short of something. It may pass.
  const pop::Status& trouble() const { return trouble_; }

  /// Members of the job are about to come in.
  bool expectsProofs() const;
  /// With this stream, which has introduced itself so but for the nonce.
  bool expectsProof(const Introduction& stream) const;

  /// Sends all away who have come or come later.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  // One who has come and not yet shown who it is.
  struct PendingConnection {
    pop::sys::Fd socket;
    Clock::time_point come;
    IntroductionBytes introduction{};
    ReplyBytes reply{};
    ProofBytes proof{};
    std::optional<Introduction> introduced;
    std::size_t bytes = 0;  ///< of the introduction, then of the proof
  };
  enum class Progress { kWaits, kMoved, kOver };

  bool accept();
  void advanceAll();
  void makeRoom();
  Progress advance(PendingConnection& pending);
  Progress readIntroduction(PendingConnection& pending);
  Progress readProof(PendingConnection& pending);
  Progress read(PendingConnection& pending, std::span<std::byte> whole);

  const Key job_;
  pop::sys::Fd listener_;
  SocketSleeper& sleeper_;
  const Admit admit_;
  std::list<PendingConnection> pending_;
  bool is_crowded_ = false;  ///< not all could be let in
  pop::Status trouble_;
};

}  // namespace popdist::transport
