// SPDX-License-Identifier: Apache-2.0
// Accepts connections at a group's listening socket: members of the job prove that they are and are let in,
// unauthenticated clients are turned away. Until then they cost a socket each, a few hundred at most. A
// client that sends nothing for 10 s, or for a second when there is no room for others, is closed at the next
// check.
#pragma once

#include <chrono>
#include <functional>
#include <list>

#include "libpopdist/collectives/messages/transport/tcp/tcp_stream.h"

namespace popdist::transport {

class Reception {
 public:
  /// Hands over a member's stream. False: it is not wanted.
  using Admit = std::function<bool(const Introduction&, AcceptedStream)>;

  Reception(const Key& job, pop::sys::Fd listener, SocketSleeper& sleeper, Admit admit)
      : job_(job), listener_(std::move(listener)), sleeper_(sleeper), admit_(std::move(admit)) {}

  /// Advances all pending connections without waiting. For ranks that lack a stream.
  void receive();

  /// The reason that not all connections could be accepted at the last try: this process lacks a resource. It
  /// may pass.
  const pop::Status& trouble() const { return trouble_; }

  /// True if members of the job are about to be let in.
  bool expectsProofs() const;
  /// True if the stream with this introduction, nonce aside, is among them.
  bool expectsProof(const Introduction& stream) const;

  /// Closes all pending connections, and refuses later ones.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  // A connection that has not proved yet that it belongs to the job.
  struct PendingConnection {
    pop::sys::Fd socket;
    Clock::time_point come;
    IntroductionBytes introduction{};
    ReplyBytes reply{};
    ProofBytes proof{};
    std::optional<Introduction> introduced;
    std::size_t bytes = 0;  ///< read of the introduction, then of the proof
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
