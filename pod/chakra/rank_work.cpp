// SPDX-License-Identifier: Apache-2.0
#include "pod/chakra/rank_work.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>

#include "common/base/text.h"

namespace pop::pod::chakra {
namespace {

constexpr Picoseconds kMostComputation = std::chrono::hours(24 * 30);

// Nodes by their places in the file.
struct Graph {
  std::vector<std::vector<std::size_t>> before;  ///< that each node waits for
  std::vector<std::vector<std::size_t>> after;   ///< that wait for it
};

Result<Graph> graphOf(std::span<const TraceNode> nodes) {
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (!places.emplace(nodes[at].id, at).second)
      return invalidArgument(inWords(nodes[at]) + ": its id comes twice");
  }
  Graph graph{std::vector<std::vector<std::size_t>>(nodes.size()),
              std::vector<std::vector<std::size_t>>(nodes.size())};
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    for (const std::uint64_t id : nodes[at].dependencies) {
      const auto found = places.find(id);
      if (found == places.end())
        return invalidArgument(inWords(nodes[at]) + ": it depends on node " + std::to_string(id) +
                               ", which is not there");
      graph.before[at].push_back(found->second);
      graph.after[found->second].push_back(at);
    }
  }
  return graph;
}

// A node of a circle, found by going back among those that still wait.
std::size_t inCircle(const Graph& graph, const std::vector<std::size_t>& waits_for) {
  const auto waits = [&](std::size_t at) { return waits_for[at] > 0; };
  std::size_t at = 0;
  while (!waits(at)) ++at;
  for (std::size_t steps = 0; steps < waits_for.size(); ++steps)
    at = *std::ranges::find_if(graph.before[at], waits);
  return at;
}

Result<std::vector<std::size_t>> orderOf(std::span<const TraceNode> nodes) {
  POP_ASSIGN_OR_RETURN(const Graph graph, graphOf(nodes));
  std::vector<std::size_t> waits_for(nodes.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    waits_for[at] = graph.before[at].size();
    if (waits_for[at] == 0) ready.push(at);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t at = ready.top();
    ready.pop();
    order.push_back(at);
    for (const std::size_t next : graph.after[at])
      if (--waits_for[next] == 0) ready.push(next);
  }
  if (order.size() == nodes.size()) return order;
  return invalidArgument(inWords(nodes[inCircle(graph, waits_for)]) +
                         ": it waits for itself, by its dependencies");
}

// "node 7, 'grads', an all-reduce of 4 bytes": exact, since sizes are compared.
std::string inWordsWithSize(const TraceNode& node) {
  const TracedCollective& collective = *node.collective;
  const std::string_view kind = nameOf(collective.kind);
  return inWords(node) + ", " + (kind.front() == 'a' ? "an " : "a ") + std::string(kind) + " of " +
         counted(static_cast<std::int64_t>(collective.bytes), "byte") + " in elements of " +
         std::to_string(collective.element_bytes);
}

Status compare(const RankWork& all, std::string_view first_file, const RankWork& rank,
               std::string_view file) {
  const std::size_t shared = std::min(all.collectives.size(), rank.collectives.size());
  const auto differ = [&](const std::string& cause) {
    return invalidArgument(std::string(file) + ": " + cause +
                           ": all ranks need the same collectives in the same order");
  };
  for (std::size_t at = 0; at < shared; ++at) {
    const TraceNode& first = all.collectives[at].node;
    const TraceNode& own = rank.collectives[at].node;
    if (first.collective != own.collective)
      return differ("collective " + std::to_string(at) + " is " + inWordsWithSize(own) + ", and in " +
                    std::string(first_file) + " " + inWordsWithSize(first));
  }
  if (all.collectives.size() == rank.collectives.size()) return {};
  return differ("it has " + counted(static_cast<std::int64_t>(rank.collectives.size()), "collective") +
                ", and " + std::string(first_file) + " has " + std::to_string(all.collectives.size()));
}

}  // namespace

Result<RankWork> workOf(std::span<const TraceNode> nodes, std::string_view file) {
  const auto wrong = [file](const std::string& cause) {
    return invalidArgument(std::string(file) + ": " + cause);
  };
  const Result<std::vector<std::size_t>> order = orderOf(nodes);
  if (!order.ok()) return wrong(order.status().message());
  RankWork work;
  Picoseconds all{0};
  for (const std::size_t at : order.value()) {
    const TraceNode& node = nodes[at];
    all += node.duration;
    if (all > kMostComputation) return wrong(inWords(node) + ": more than 30 days of computation until here");
    work.computation_after += node.duration;
    if (!node.collective) continue;
    work.collectives.push_back({work.computation_after, node});
    work.computation_after = Picoseconds(0);
  }
  return work;
}

Status join(RankWork& all, std::string_view first_file, const RankWork& rank, std::string_view file) {
  POP_RETURN_IF_ERROR(compare(all, first_file, rank, file));
  for (std::size_t at = 0; at < all.collectives.size(); ++at) {
    Picoseconds& longest = all.collectives[at].computation;
    longest = std::max(longest, rank.collectives[at].computation);
  }
  all.computation_after = std::max(all.computation_after, rank.computation_after);
  return {};
}

}  // namespace pop::pod::chakra
