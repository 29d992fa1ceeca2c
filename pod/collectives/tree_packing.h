// SPDX-License-Identifier: Apache-2.0
// Spanning trees of the replicas that share the links as evenly as can be. An all-reduce up and down trees
// uses each link of a tree once in each direction, so trees that share all links reach the bound of graph
// strength.
#pragma once

#include <cstdint>
#include <vector>

#include "pod/collectives/schedule.h"
#include "pod/system/topology.h"

namespace pop::pod {

struct Tree {
  int units = 1;            ///< its part of the vector, of the sum over all trees
  int root = 0;             ///< a middle
  int height = 0;           ///< hops from the farthest replica to the root
  std::vector<int> parent;  ///< of each replica; -1: the root
  std::vector<int> depth;   ///< hops to the root
};

/// `units` spanning trees over the direct IPU-Links between the first `ipus` IPUs, the same ones counted
/// together: one after the other, each over the links that those before use least. None if these links do not
/// join them. Within 1 to 3 % of the bound on ladder, torus and twist with 256 units, on a ladder with rungs
/// of two rails exactly with 2. The same everywhere: loads are compared as whole numbers.
std::vector<Tree> packTrees(const Topology& topology, int ipus, int units);

/// Time of the link that these trees use most, for a byte of the vector.
double leastSecondsPerByte(const Topology& topology, const std::vector<Tree>& trees);

/// The all-reduce of one-IPU replicas along these trees: each tree's part in `chunks` pieces, which follow
/// each other up to its root and down again. chunks + 2 * height - 1 rounds.
Schedule treeAllReduce(const std::vector<Tree>& trees, int chunks);

}  // namespace pop::pod
