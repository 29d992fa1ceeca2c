// SPDX-License-Identifier: Apache-2.0
// Carries out plans over a transport until they are done, the deadline has passed, or an instance that is
// needed has ended. The caller's thread does all the work. One call may run the plans of several local ranks
// side by side.
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
#include "libpopdist/collectives/messages/exec/call_words.h"
#include "libpopdist/collectives/messages/exec/message_header.h"
#include "libpopdist/collectives/messages/exec/peer_monitor.h"
#include "libpopdist/collectives/messages/transport/transport.h"
#include "libpopdist/collectives/plan/plan.h"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::exec {

/// The facts of a call that all ranks must agree on. They travel with each message, so that a mismatch is
/// reported as an error instead of producing wrong data.
struct Call {
  CallKey key;              ///< as the caller gave it; operations that reduce need supports(key.op, key.type)
  std::uint64_t count = 0;  ///< elements, as the caller gave them
  std::string_view tensor{};   ///< likewise
  std::uint64_t sequence = 0;  ///< number of calls that the group made before this one
  Type type = key.type;        ///< element type that this plan moves
  Operator folds = key.op;     ///< operator that this plan reduces with
  int members = 1;             ///< divisor of a mean
  int group = -1;              ///< the number of the group that makes it
  bool sends_empty =
      false;  ///< steps without elements send a message too, which tells the peer that there are none
};

/// The head of a message of the call.
inline Header headerOf(const Call& call, std::size_t message_bytes) {
  Header header{.sequence = call.sequence,
                .count = call.count,
                .message_bytes = message_bytes,
                .key = call.key.packed()};
  call.tensor.copy(header.tensor.data(), header.tensor.size());
  return header;
}

/// The part of one local rank.
struct RankWork {
  int rank = 0;
  const plan::Plan* plan = nullptr;
  const void* input = nullptr;
  void* output = nullptr;
  transport::Endpoint* endpoint = nullptr;
};

/// The reason of a failed call, and the instance or rank that caused it.
struct Failure {
  pop::Status status;
  int peer_instance = -1;  ///< the instance whose end caused it; -1: none
  int peer_rank = -1;      ///< the rank that does not match, has not come, or has closed its connection
  bool heard = false;      ///< reported by another rank's abort message
};

/// The deadline of a call, by the clock of the thread that makes it. It is asked for in every turn of a wait
/// because it may move.
using MovingDeadline = std::function<pop::sys::AwakeClock::time_point()>;

/// The last call in which a rank was heard of.
struct Heard {
  std::uint64_t calls = 0;  ///< number of calls up to and including that one; 0: nothing has arrived yet
  std::uint64_t key = 0;
  std::uint64_t count = 0;
  std::optional<Header> elsewhere{};  ///< its note since then that it waits in a call of another group
};

struct Waiting {
  transport::Sleeper* sleeper = nullptr;
  PeerMonitor* monitor = nullptr;
  bool oversubscribed = true;  ///< this host's ranks outnumber its cores
  /// Returns the failure of a peer that is known by other means; called now and then. May be empty.
  std::function<std::optional<Failure>()> peer_failure{};
  pop::sys::AwakeClock::time_point deadline;  ///< deadline by the clock of the thread that calls execute()
  MovingDeadline moving_deadline{};           ///< replaces `deadline` if set
  RankNames names{};
  std::span<Heard> heard{};  ///< by rank, kept from call to call; may be empty
};

/// Runs all `work` to its end. After a failure the state of the transport is undefined and the group must not
/// be used again.
Failure execute(const Call& call, std::span<RankWork> work, const Waiting& waiting);

}  // namespace popdist::exec
