// SPDX-License-Identifier: Apache-2.0
// Tells a waiting collective that a member of its group has ended and will never answer.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "common/base/status.h"
#include "libpopdist/collectives/messages/exec/message_header.h"

namespace popdist::exec {

/// Longest delay of the end notice of a peer that has visibly gone. Over hosts it travels from keeper to
/// agent to poprun to the other agents, and each of them may have to wait for a CPU.
inline constexpr std::chrono::milliseconds kEndNoticeTimeout{2000};

struct PeerLoss {
  int instance = -1;
  std::string text;  ///< "instance 2 (pid 712) was killed by SIGKILL"
  pop::Code code = pop::Code::kUnavailable;
};

class PeerMonitor {
 public:
  virtual ~PeerMonitor() = default;

  /// True when any instance of the job has ended. Cheap: asked in every turn of a wait.
  virtual bool anyEnded() = 0;

  /// The first member of the group whose end makes waiting for the ranks `awaited` pointless: any member that
  /// failed, or one of `awaited` that exited, even cleanly. Do not ask for ranks whose messages may still
  /// arrive.
  virtual std::optional<PeerLoss> loss(std::span<const int> awaited) = 0;

  /// In each turn of a wait: its caller has asked to end it.
  virtual std::optional<PeerLoss> cancelled() { return std::nullopt; }

  /// In each turn of a wait for the ranks `awaited`: one of them waits for this one, in another call, and
  /// will not come. over() ends the wait.
  virtual std::optional<PeerLoss> elsewhere(std::span<const int> /*awaited*/) { return std::nullopt; }
  virtual void over() {}

  /// `rank` has not begun this call, and its note says in which one it waits for this rank instead. Returns a
  /// loss if each waits for the other in vain. `is_awaited`: for its message.
  virtual std::optional<PeerLoss> crossing(int /*rank*/, const Header& /*note*/, bool /*is_awaited*/) {
    return std::nullopt;
  }

  /// True if a member has failed. All other members learn of that by themselves, whichever ranks they wait
  /// for.
  bool anyFailed() { return loss({}).has_value(); }
};

}  // namespace popdist::exec
