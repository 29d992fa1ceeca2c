// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/flows.h"

namespace popdist::plan {
namespace {

std::vector<std::size_t> beginnings(std::span<const std::size_t> counts) {
  std::vector<std::size_t> begin(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) begin[i] = begin[i - 1] + counts[i - 1];
  return begin;
}

}  // namespace

Flows broadcastFlows(int ranks, std::size_t count, int root) {
  Flows flows;
  for (int to = 0; to < ranks; ++to) {
    if (to != root) flows.push_back({root, to, 0, 0, count});
  }
  return flows;
}

Flows allGatherFlows(std::span<const std::size_t> counts) {
  const std::vector<std::size_t> begin = beginnings(counts);
  Flows flows;
  for (std::size_t from = 0; from < counts.size(); ++from) {
    for (std::size_t to = 0; to < counts.size(); ++to)
      flows.push_back({static_cast<int>(from), static_cast<int>(to), 0, begin[from], counts[from]});
  }
  return flows;
}

Flows gatherFlows(std::span<const std::size_t> counts, int root) {
  const std::vector<std::size_t> begin = beginnings(counts);
  Flows flows;
  for (std::size_t from = 0; from < counts.size(); ++from)
    flows.push_back({static_cast<int>(from), root, 0, begin[from], counts[from]});
  return flows;
}

Flows scatterFlows(std::span<const std::size_t> counts, int root) {
  const std::vector<std::size_t> begin = beginnings(counts);
  Flows flows;
  for (std::size_t to = 0; to < counts.size(); ++to)
    flows.push_back({root, static_cast<int>(to), begin[to], 0, counts[to]});
  return flows;
}

Flows allToAllFlows(int ranks, std::span<const std::size_t> counts) {
  const auto n = static_cast<std::size_t>(ranks);
  Flows flows;
  std::vector<std::size_t> received(n, 0);
  for (std::size_t from = 0; from < n; ++from) {
    std::size_t sent = 0;
    for (std::size_t to = 0; to < n; ++to) {
      const std::size_t count = counts[from * n + to];
      flows.push_back({static_cast<int>(from), static_cast<int>(to), sent, received[to], count});
      sent += count;
      received[to] += count;
    }
  }
  return flows;
}

Flows tellingTheNext(Flows flows, int ranks) {
  std::erase_if(flows,
                [ranks](const Flow& flow) { return flow.size == 0 && flow.to != (flow.from + 1) % ranks; });
  return flows;
}

Flows ownFlows(int rank, std::span<const std::size_t> send_counts, std::span<const std::size_t> recv_counts) {
  const std::vector<std::size_t> sent = beginnings(send_counts);
  const std::vector<std::size_t> received = beginnings(recv_counts);
  const auto own = static_cast<std::size_t>(rank);
  Flows flows;
  for (std::size_t peer = 0; peer < send_counts.size(); ++peer) {
    const int other = static_cast<int>(peer);
    if (peer == own) {
      flows.push_back({rank, rank, sent[own], received[own], send_counts[own]});
      continue;
    }
    flows.push_back({rank, other, sent[peer], 0, send_counts[peer]});
    flows.push_back({other, rank, 0, received[peer], recv_counts[peer]});
  }
  return flows;
}

}  // namespace popdist::plan
