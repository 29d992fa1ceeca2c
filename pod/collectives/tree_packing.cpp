// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/tree_packing.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "common/base/check.h"
#include "pod/system/routes.h"

namespace pop::pod {
namespace {

struct Edge {
  int a = 0;
  int b = 0;
  std::uint64_t bytes_per_s = 0;
  std::uint64_t trees = 0;  // that use it
};

std::vector<Edge> edgesOf(const Topology& topology, int ipus) {
  std::vector<Edge> edges;
  for (const Link& link : topology.links()) {
    const bool is_direct = link.kind == LinkKind::kRung || link.kind == LinkKind::kRail;
    if (is_direct && link.from < link.to && link.to < ipus)
      edges.push_back({link.from, link.to, link.bytes_per_s});
  }
  return edges;
}

// Trees over the least used links: Kruskal's.
class Spanning {
 public:
  Spanning(std::vector<Edge>& edges, int ipus) : edges_(edges), ipus_(ipus), order_(edges.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  // Indices of edges; empty if they do not join all.
  std::vector<std::size_t> next() {
    // Loads after this tree, compared as fractions. Bytes per second are below 2^50, trees below 2^10.
    std::ranges::stable_sort(order_, [this](std::size_t x, std::size_t y) {
      return (edges_[x].trees + 1) * edges_[y].bytes_per_s < (edges_[y].trees + 1) * edges_[x].bytes_per_s;
    });
    group_.resize(static_cast<std::size_t>(ipus_));
    std::iota(group_.begin(), group_.end(), 0);
    std::vector<std::size_t> tree;
    for (const std::size_t index : order_) {
      const int a = groupOf(edges_[index].a);
      const int b = groupOf(edges_[index].b);
      if (a == b) continue;
      group_[static_cast<std::size_t>(a)] = b;
      tree.push_back(index);
    }
    if (tree.size() + 1 != static_cast<std::size_t>(ipus_)) return {};
    for (const std::size_t index : tree) ++edges_[index].trees;
    std::ranges::sort(tree);
    return tree;
  }

 private:
  int groupOf(int ipu) {
    while (group_[static_cast<std::size_t>(ipu)] != ipu) {
      int& above = group_[static_cast<std::size_t>(ipu)];
      above = group_[static_cast<std::size_t>(above)];
      ipu = above;
    }
    return ipu;
  }

  std::vector<Edge>& edges_;
  const int ipus_;
  std::vector<std::size_t> order_;
  std::vector<int> group_;
};

// Hops from an IPU, and from whom each is reached.
struct Reached {
  std::vector<int> order;
  std::vector<int> parent;
  std::vector<int> depth;
};

Reached from(int start, const std::vector<std::vector<int>>& neighbours) {
  Reached reached{{start}, std::vector<int>(neighbours.size(), -1), std::vector<int>(neighbours.size(), 0)};
  for (std::size_t at = 0; at < reached.order.size(); ++at) {
    const int ipu = reached.order[at];
    for (const int next : neighbours[static_cast<std::size_t>(ipu)]) {
      if (next == reached.parent[static_cast<std::size_t>(ipu)]) continue;
      reached.parent[static_cast<std::size_t>(next)] = ipu;
      reached.depth[static_cast<std::size_t>(next)] = reached.depth[static_cast<std::size_t>(ipu)] + 1;
      reached.order.push_back(next);
    }
  }
  return reached;
}

Tree rooted(const std::vector<Edge>& edges, const std::vector<std::size_t>& chosen, int ipus) {
  std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(ipus));
  for (const std::size_t index : chosen) {
    neighbours[static_cast<std::size_t>(edges[index].a)].push_back(edges[index].b);
    neighbours[static_cast<std::size_t>(edges[index].b)].push_back(edges[index].a);
  }
  // The middle of a longest path.
  const Reached one_end = from(from(0, neighbours).order.back(), neighbours);
  int root = one_end.order.back();
  for (int hops = one_end.depth[static_cast<std::size_t>(root)] / 2; hops > 0; --hops)
    root = one_end.parent[static_cast<std::size_t>(root)];
  Reached reached = from(root, neighbours);
  const int height = *std::ranges::max_element(reached.depth);
  return {1, root, height, std::move(reached.parent), std::move(reached.depth)};
}

// A tree's rounds. Pieces of a chunk are blocks [chunk * units_of_all + first, + tree.units).
struct PlacedTree {
  Tree tree;
  std::uint32_t first = 0;
};

struct Forest {
  std::vector<PlacedTree> trees;
  int chunks = 1;
  std::uint32_t units = 0;

  void transfersOf(int round, const Take& take) const {
    for (const PlacedTree& placed : trees) {
      const Tree& tree = placed.tree;
      for (std::size_t replica = 0; replica < tree.parent.size(); ++replica) {
        const int parent = tree.parent[replica];
        if (parent < 0) continue;
        const auto self = static_cast<int>(replica);
        send(placed, round - (tree.height - tree.depth[replica]), self, parent, true, take);
        send(placed, round - (tree.height + tree.depth[replica] - 1), parent, self, false, take);
      }
    }
  }

  void send(const PlacedTree& placed, int chunk, int from, int to, bool reduces, const Take& take) const {
    if (chunk < 0 || chunk >= chunks) return;
    take({from, to, static_cast<std::uint32_t>(chunk) * units + placed.first,
          static_cast<std::uint32_t>(placed.tree.units), reduces});
  }
};

// Rounds in which all trees move a piece over all their links are alike.
std::vector<RoundClass> classesOf(int rounds, int fill, int chunks) {
  std::vector<RoundClass> classes;
  for (int round = 0; round < rounds; ++round) {
    const bool is_full = round >= fill && round < chunks;
    if (is_full) {
      classes.push_back({round, chunks - round});
      round = chunks - 1;
    } else {
      classes.push_back({round, 1});
    }
  }
  return classes;
}

}  // namespace

std::vector<Tree> packTrees(const Topology& topology, int ipus, int units) {
  std::vector<Edge> edges = edgesOf(topology, ipus);
  Spanning spanning(edges, ipus);
  std::map<std::vector<std::size_t>, int> counted;
  for (int unit = 0; unit < units; ++unit) {
    std::vector<std::size_t> tree = spanning.next();
    if (tree.empty()) return {};
    ++counted[std::move(tree)];
  }
  std::vector<Tree> trees;
  for (const auto& [chosen, times] : counted) {
    trees.push_back(rooted(edges, chosen, ipus));
    trees.back().units = times;
  }
  return trees;
}

double leastSecondsPerByte(const Topology& topology, const std::vector<Tree>& trees) {
  std::map<std::pair<int, int>, int> units_of;
  int units = 0;
  for (const Tree& tree : trees) {
    units += tree.units;
    for (std::size_t replica = 0; replica < tree.parent.size(); ++replica) {
      const int parent = tree.parent[replica];
      if (parent >= 0) units_of[std::minmax(static_cast<int>(replica), parent)] += tree.units;
    }
  }
  double most = 0;
  for (const auto& [ends, count] : units_of) {
    const int id = directLink(topology, ends.first, ends.second);
    const auto rate = static_cast<double>(topology.links()[static_cast<std::size_t>(id)].bytes_per_s);
    most = std::max(most, count / rate / units);
  }
  return most;
}

Schedule treeAllReduce(const std::vector<Tree>& trees, int chunks) {
  POP_CHECK(!trees.empty() && chunks >= 1);
  const auto forest = std::make_shared<Forest>();
  forest->chunks = chunks;
  int height = 0;
  for (const Tree& tree : trees) {
    forest->trees.push_back({tree, forest->units});
    forest->units += static_cast<std::uint32_t>(tree.units);
    height = std::max(height, tree.height);
  }
  const int rounds = chunks + 2 * height - 1;
  Schedule schedule{.replicas = static_cast<int>(trees.front().parent.size()),
                    .blocks = forest->units * static_cast<std::uint32_t>(chunks),
                    .phases = {}};
  schedule.phases.push_back({"up and down trees", rounds, classesOf(rounds, 2 * height - 1, chunks),
                             [forest](int round, const Take& take) { forest->transfersOf(round, take); }});
  return schedule;
}

}  // namespace pop::pod
