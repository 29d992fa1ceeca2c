// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/send_recv.h"

namespace popdist::plan {
namespace {

std::string rankText(int rank) {
  return "rank " + std::to_string(rank);
}

std::string amount(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

// "which expects 3 elements from rank 2"
std::string expects(const Partners& partners) {
  if (partners.from < 0) return "which expects nothing";
  return "which expects " + amount(partners.recv_count) + " from " + rankText(partners.from);
}

std::string sends(const Partners& partners) {
  if (partners.to < 0) return "which sends nothing";
  return "which sends " + amount(partners.send_count) + " to " + rankText(partners.to);
}

}  // namespace

std::optional<Contradiction> findContradiction(std::span<const Partners> all) {
  const auto of = [all](int rank) -> const Partners& { return all[static_cast<std::size_t>(rank)]; };
  const int ranks = static_cast<int>(all.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const Partners& own = of(rank);
    if (own.to >= ranks || own.from >= ranks)
      return Contradiction{rank, rank, rankText(rank) + " names a rank that does not exist"};
    if (own.to >= 0 && (of(own.to).from != rank || of(own.to).recv_count != own.send_count)) {
      return Contradiction{rank, own.to,
                           rankText(rank) + " sends " + amount(own.send_count) + " to " + rankText(own.to) +
                               ", " + expects(of(own.to))};
    }
    if (own.from >= 0 && of(own.from).to != rank) {
      return Contradiction{rank, own.from,
                           rankText(rank) + " expects " + amount(own.recv_count) + " from " +
                               rankText(own.from) + ", " + sends(of(own.from))};
    }
  }
  return std::nullopt;
}

Flows flowsOf(const Partners& partners, int rank) {
  Flows flows;
  if (partners.to >= 0) flows.push_back({rank, partners.to, 0, 0, partners.send_count});
  if (partners.from >= 0 && partners.from != rank)
    flows.push_back({partners.from, rank, 0, 0, partners.recv_count});
  return flows;
}

}  // namespace popdist::plan
