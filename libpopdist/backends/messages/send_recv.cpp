// SPDX-License-Identifier: Apache-2.0
// sendRecv: first everybody learns what everybody asks for, so that nobody waits for who will not come.
#include <algorithm>
#include <cstring>

#include "libpopdist/backends/messages/collectives.h"
#include "libpopdist/src/plan/send_recv.h"

namespace popdist::backends {

Failure Collectives::sendRecv() {
  std::vector<plan::Partners> all;
  if (Failure failure = gatherPartners(all); !failure.ok()) return failure;
  if (const auto found = plan::findContradiction(all)) {
    return {.status = pop::failedPrecondition(found->text), .peer_rank = found->seenBy(rank_)};
  }
  const auto& [to, from, send_count, recv_count] = call_.partners;
  if (to == rank_) {
    copyToOutput({0, send_count}, {0, recv_count});
    return {};
  }
  const Outgoing outgoing = to < 0 ? Outgoing{} : sending(to, input_, {0, send_count});
  return exchange_.run(outgoing, from < 0 ? Incoming{} : writing(from, {0, recv_count}));
}

// After the step of distance d, a rank has what it and the 2d - 1 before it ask for, the nearest first.
Failure Collectives::gatherPartners(std::vector<plan::Partners>& all) {
  std::vector<plan::Partners> behind{call_.partners};
  for (int distance = 1; distance < ranks_; distance *= 2) {
    const std::size_t have = behind.size();
    const auto few = static_cast<std::size_t>(std::min(distance, ranks_ - distance));
    behind.resize(have + few);
    auto* const to = reinterpret_cast<std::byte*>(behind.data() + have);
    const Outgoing outgoing{.to = wrapped(rank_ + distance),
                            .bytes = std::as_bytes(std::span(behind).first(few))};
    const Incoming incoming{.from = wrapped(rank_ - distance),
                            .bytes = few * sizeof(plan::Partners),
                            .sink = [to](std::size_t offset, std::span<const std::byte> piece) {
                              std::memcpy(to + offset, piece.data(), piece.size());
                            }};
    if (Failure failure = exchange_.run(outgoing, incoming); !failure.ok()) return failure;
  }
  for (int rank = 0; rank < ranks_; ++rank)
    all.push_back(behind[static_cast<std::size_t>(wrapped(rank_ - rank))]);
  return {};
}

}  // namespace popdist::backends
