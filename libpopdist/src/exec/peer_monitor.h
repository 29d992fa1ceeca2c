// SPDX-License-Identifier: Apache-2.0
// Tells a waiting collective that a member of its group will never answer.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

namespace popdist::exec {

/// So long after a peer has visibly gone its end notice, which says why, may still come: over hosts it takes
/// the way from keeper to agent to poprun to the other agents, each of which may be waiting for a CPU.
inline constexpr std::chrono::milliseconds kEndNoticeTimeout{2000};

struct PeerLoss {
  int instance = -1;
  std::string text;  ///< "instance 2 (pid 712) was killed by SIGKILL"
};

class PeerMonitor {
 public:
  virtual ~PeerMonitor() = default;

  /// True when any instance of the job has ended. Cheap: asked in every turn of a wait.
  virtual bool anyEnded() = 0;

  /// The first member of the group whose end makes waiting for the ranks `awaited` pointless: any that
  /// failed, or one of `awaited` that has left, even if cleanly. Of a rank whose messages may still be under
  /// way one does not ask.
  virtual std::optional<PeerLoss> loss(std::span<const int> awaited) = 0;

  /// Whether a member has failed: of that all others hear by themselves, whomever they wait for.
  bool anyFailed() { return loss({}).has_value(); }
};

}  // namespace popdist::exec
