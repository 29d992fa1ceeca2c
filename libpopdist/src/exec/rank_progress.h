// SPDX-License-Identifier: Apache-2.0
// How far one rank has come in its plan. Polled: each call moves what can be moved now.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libpopdist/src/exec/executor.h"
#include "libpopdist/src/exec/message_header.h"

namespace popdist::exec {

struct LostConnection {
  int rank = -1;
  pop::Status why;
};

class RankProgress {
 public:
  RankProgress(const Call& call, const RankWork& work, const Waiting& waiting);

  /// Moves what can be moved; true if anything did.
  bool poll();
  /// All steps are done, and what was sent gets to the others.
  bool done() const { return allStepsDone() && (!has_sent_ || undelivered().empty()); }

  /// The peers that the current round waits for, or that have not got all in the end.
  void appendAwaited(std::vector<int>& ranks) const;

  /// Appends those of them that are missed if they have ended: nothing of theirs is under way, or they were
  /// to receive.
  void appendMissedIfEnded(std::vector<int>& ranks) const;

  /// Appends those of them to which there is no connection any more.
  void appendLost(std::vector<LostConnection>& lost) const;

  /// Looks for what others than those may have to say: any of them may have given up, and know why, or be in
  /// another call.
  void listenToAll();

  /// Set when a peer turned out to be in another call, or has given up.
  const std::optional<Failure>& refusal() const { return refusal_; }

 private:
  // A step under way. A message is a header of one aligned block, then the elements.
  struct Active {
    static constexpr std::size_t kNone = SIZE_MAX;

    const plan::Step* step = nullptr;
    std::size_t after = kNone;  ///< index of the step that it waits for
    bool sealed = false;        ///< kSend: `head` is what is sent
    std::size_t header_moved = 0;
    std::size_t bytes_moved = 0;
    alignas(transport::kHeadBytes) std::array<std::byte, transport::kHeadBytes> head{};
  };

  // Of a peer that has given up, as far as it has come.
  struct AbortMessage {
    Header header;
    std::string text;
    int peer = -1;
  };

  bool allStepsDone() const { return next_step_ == steps().size() && active_.empty(); }
  std::vector<int> undelivered() const;
  const std::vector<plan::Step>& steps() const { return work_.plan->steps; }
  void startRound();
  std::size_t lastOnChannelOf(const plan::Step& step) const;
  bool advance(Active& active);
  bool send(Active& active);
  bool receive(Active& active);
  bool receiveHeader(Active& active, transport::Connection& connection);
  bool beginAbortMessage(transport::Connection& connection, int peer, const Header& header);
  bool receiveAbortMessage(transport::Connection& connection);
  void hearFailure(const Header& header, std::string text, int from);
  bool hearAbortBeside(transport::Connection& connection, int peer);
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
