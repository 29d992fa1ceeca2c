// SPDX-License-Identifier: Apache-2.0
// What one instance of a simulated job does with its life, decided by chance when it starts.
#pragma once

#include <csignal>
#include <string>

#include "common/base/random.h"
#include "common/contract/exit_code.h"
#include "common/ports/agent_port.h"

namespace pop::sim {

/// How instances of a job tend to behave: chances of each.
struct Manners {
  double fails = 0;   ///< exits with a code, or is killed by a signal of its own making
  double aborts = 0;  ///< asks to end the job
  double unstartable = 0;
  double stubborn = 0;    ///< ignores SIGTERM
  double unkillable = 0;  ///< for a while even by SIGKILL
  int least_fences = 0;
  int most_fences = 0;
  int most_pieces = 0;  ///< of output
  int most_piece_bytes = 64;
  int shortest_ms = 1;
  int longest_ms = 3000;
  double failure_after_news = 0.5;  ///< of instances that are told of another's end in a fence
};

struct Life {
  Life(const Manners& manners, SplitMix64& random) {
    const auto upTo = [&random](int most) {
      return most <= 0 ? 0 : static_cast<int>(random.below(static_cast<std::uint64_t>(most) + 1));
    };
    const auto chance = [&random](double probability) {
      return probability > 0 && random.unit() < probability;
    };
    unstartable = chance(manners.unstartable);
    stubborn = chance(manners.stubborn);
    unkillable = chance(manners.unkillable);
    aborts = chance(manners.aborts);
    if (chance(manners.fails)) {
      if (random.below(2) == 0) {
        end.signal = SIGSEGV;
      } else {
        end.code = 1 + upTo(98);
      }
    }
    fences = manners.least_fences + upTo(manners.most_fences - manners.least_fences);
    pieces = upTo(manners.most_pieces);
    lasts_ms = manners.shortest_ms + upTo(manners.longest_ms - manners.shortest_ms);
  }

  bool unstartable = false;
  bool stubborn = false;
  bool unkillable = false;
  bool aborts = false;
  contract::ExitStatus end;  ///< when nobody ends it before
  int fences = 0;
  int pieces = 0;
  int lasts_ms = 0;
};

struct SimInstance {
  explicit SimInstance(const Life& the_life) : life(the_life) {}

  const Life life;
  bool alive = true;
  bool in_fence = false;
  bool lonely = false;      ///< a fence has failed: no more of them
  bool terminated = false;  ///< by the agent: whatever ends it now was our doing
  bool killed = false;
  int fences_entered = 0;
  int written = 0;                  ///< pieces
  bool draining = false;            ///< ended; its output is not all delivered
  std::vector<std::string> unread;  ///< written, and not read by the agent
  bool over_time = false;           ///< it has nothing left to do
};

}  // namespace pop::sim
