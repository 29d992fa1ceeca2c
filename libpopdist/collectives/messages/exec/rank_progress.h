// SPDX-License-Identifier: Apache-2.0
// The progress of one rank in its plan. It is polled: each call moves what can be moved now.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libpopdist/collectives/messages/exec/executor.h"
#include "libpopdist/collectives/messages/exec/message_header.h"

namespace popdist::exec {

inline bool isReceive(plan::StepKind kind) {
  return kind == plan::StepKind::kRecv || kind == plan::StepKind::kRecvReduce;
}

struct LostConnection {
  int rank = -1;
  pop::Status why;
};

class RankProgress {
 public:
  RankProgress(const Call& call, const RankWork& work, const Waiting& waiting);

  /// Moves what can be moved. Returns true if anything moved.
  bool poll();
  /// True when all steps are done and everything sent will reach the peers.
  bool done() const { return allStepsDone() && (!has_sent_ || undelivered().empty()); }

  /// Appends the peers that the current round waits for, or that have not received everything at the end.
  void appendAwaited(std::vector<int>& ranks) const;

  /// Appends those of these peers that are missed if they have ended: nothing from them is under way, or they
  /// were to receive.
  void appendMissedIfEnded(std::vector<int>& ranks) const;

  /// Appends those of these peers whose connection is lost.
  void appendLost(std::vector<LostConnection>& lost) const;

  /// Checks the other peers for messages: any of them may have aborted the call or be in another one.
  void listenToAll();

  /// Set when a peer is in another call or has aborted this one.
  const std::optional<Failure>& refusal() const { return refusal_; }

 private:
  // A step in progress. A message is a header of one aligned block, then the elements.
  struct Active {
    static constexpr std::size_t kNone = SIZE_MAX;

    const plan::Step* step = nullptr;
    std::size_t after = kNone;      ///< index of the message before this one on its channel
    std::size_t after_sum = kNone;  ///< index of the sum before this one of the same elements
    bool sealed = false;            ///< kSend: `head` is sealed and ready to be sent
    std::size_t header_moved = 0;
    std::size_t bytes_moved = 0;
    alignas(transport::kHeadBytes) std::array<std::byte, transport::kHeadBytes> head{};
  };

  // The abort message of a peer, as far as it has arrived.
  struct AbortMessage {
    Header header;
    std::string text;
    int peer = -1;
  };

  bool allStepsDone() const { return next_step_ == steps().size() && active_.empty(); }
  std::vector<int> undelivered() const;
  const std::vector<plan::Step>& steps() const { return work_.plan->steps; }
  void startRound();
  /// The last of the active steps that does; kNone: none.
  template <typename Matches>
  std::size_t lastActive(const Matches& matches) const;
  std::size_t lastOnChannelOf(const plan::Step& step) const;
  std::size_t lastSumOf(const plan::Step& step) const;
  bool mayMove(const Active& active) const;
  bool advance(Active& active);
  bool send(Active& active);
  bool receive(Active& active);
  bool receiveHeader(Active& active, transport::Connection& connection);
  bool beginAbortMessage(transport::Connection& connection, int peer, const Header& header);
  bool receiveAbortMessage(transport::Connection& connection);
  void hearFailure(const Header& header, std::string text, int from);
  bool hearAbortBeside(transport::Connection& connection, int peer);
  bool hearNote(transport::Connection& connection, int peer, const Header& theirs);
  bool receivesFrom(int peer) const;
  void refuse(int peer, const std::string& why);
  std::string nameOf(int rank) const;
  void hear(int peer);
  std::size_t receiveElements(const Active& active, transport::Connection& connection);
  std::size_t mayBeWritten(const Active& active) const;
  std::size_t receiveAndReduce(const Active& active, transport::Connection& connection);
  void reduce(const plan::Step& step, std::size_t done_bytes, std::span<const std::byte> incoming);
  bool finished(const Active& active) const;
  const std::byte* source(const plan::Slice& slice) const;
  std::byte* target(const plan::Slice& slice);

  const Call& call_;
  const RankWork work_;
  const Waiting& waiting_;
  const std::size_t element_bytes_;
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t next_step_ = 0;
  bool has_sent_ = false;
  std::vector<Active> active_;
  std::optional<AbortMessage> abort_message_;
  std::optional<Failure> refusal_;
};

}  // namespace popdist::exec
