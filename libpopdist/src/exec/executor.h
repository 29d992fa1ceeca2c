// SPDX-License-Identifier: Apache-2.0
// Carries out plans over a transport until they are done, the deadline has passed, or somebody needed is
// gone. The caller's thread does all the work. One call may run the plans of several local ranks side by
// side.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "common/base/status.h"
#include "common/sys/awake_clock.h"
#include "libpopdist/src/exec/call_words.h"
#include "libpopdist/src/exec/peer_monitor.h"
#include "libpopdist/src/plan/plan.h"
#include "libpopdist/src/transport/transport.h"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::exec {

/// What all ranks must agree on. It travels with each message, so that a mismatch is an error and not
/// garbage.
struct Call {
  CallKey key;                ///< as the caller gave it; supports(key.op, key.type) of operations that reduce
  std::uint64_t count = 0;    ///< elements, as the caller gave them
  std::string_view tensor{};  ///< likewise
  std::uint64_t sequence = 0;  ///< how many calls the group has made before this one
  Type type = key.type;        ///< what this plan's part of it moves
  Operator folds = key.op;     ///< and reduces with
  int members = 1;             ///< what a mean is taken over
  bool sends_empty = false;    ///< steps of no elements are messages, too: who has none can be told
};

/// One local rank's part.
struct RankWork {
  int rank = 0;
  const plan::Plan* plan = nullptr;
  const void* input = nullptr;
  void* output = nullptr;
  transport::Endpoint* endpoint = nullptr;
};

/// Why a call failed, and who is to blame.
struct Failure {
  pop::Status status;
  int peer_instance = -1;  ///< that has ended
  int peer_rank = -1;      ///< that does not match, has not come, or has closed its connection
  bool heard = false;      ///< from a rank that had given up before
};

/// Until when a call waits, by the clock of the thread that makes it. Asked in every turn of a wait, as it
/// may change meanwhile.
using MovingDeadline = std::function<pop::sys::AwakeClock::time_point()>;

/// In which call a rank has been heard of last.
struct Heard {
  std::uint64_t calls = 0;  ///< that had been made then, this one included; 0: nothing has come yet
  std::uint64_t key = 0;
  std::uint64_t count = 0;
};

struct Waiting {
  transport::Sleeper* sleeper = nullptr;
  PeerMonitor* monitor = nullptr;
  bool oversubscribed = true;  ///< the ranks of this host outnumber its cores
  /// Why to give up, as is known elsewhere; asked now and then. May be empty.
  std::function<std::optional<Failure>()> peer_failure{};
  pop::sys::AwakeClock::time_point deadline;  ///< of the thread that calls execute()
  MovingDeadline moving_deadline{};           ///< instead of it, if there
  RankNames names{};
  std::span<Heard> heard{};  ///< of each rank, from call to call; may be empty
};

/// Runs all `work` to its end. After a failure the transport's state is undefined: the group must not be used
/// again.
Failure execute(const Call& call, std::span<RankWork> work, const Waiting& waiting);

}  // namespace popdist::exec
