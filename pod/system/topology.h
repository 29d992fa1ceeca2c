// SPDX-License-Identifier: Apache-2.0
// The directed links of a system. In each IPU-Link domain the IPUs form a ladder (2xN mesh), a torus or a
// barley twist; every gateway is joined to its IPUs by Host-Links, and to other gateways by GW-Links: in a
// ring of ILDs, or over the switch of its slot. A wiring of its own has the links that it lists.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pod/system/pod_spec.h"

namespace pop::pod {

/// Nodes 0 .. ipuCount-1 are the IPUs, then come the gateways, ILD by ILD, then the switches.
struct Link {
  int id = 0;  ///< index in Topology::links()
  int from = 0;
  int to = 0;
  LinkKind kind = LinkKind::kRail;
  std::uint64_t bytes_per_s = 0;
};

class Topology {
 public:
  /// `spec` must be valid: see validate() in replica_layout.h.
  explicit Topology(PodSpec spec);

  const PodSpec& spec() const { return spec_; }
  std::span<const Link> links() const { return links_; }
  /// Ids, in the order in which they were made.
  std::span<const int> linksFrom(int node) const;
  int nodes() const { return static_cast<int>(first_of_.size()) - 1; }
  int gatewayOf(int ipu) const;
  int switchOf(int gateway) const;

  /// The id of the link of this kind from one node to another, -1 if there is none.
  int linkId(int from, int to, LinkKind kind) const;

 private:
  void addBoth(int a, int b, LinkKind kind, std::uint64_t bytes_per_s);
  void addRows(int ild);
  void addSquares(int ild);
  void addHostLinks();
  void addGwLinks();
  void indexLinks();

  PodSpec spec_;
  int gateways_ = 0;
  int switches_ = 0;
  std::vector<Link> links_;
  std::vector<int> first_of_;  // by node: where its links begin in by_node_
  std::vector<int> by_node_;
};

/// True if every IPU reaches every other one: by IPU-Links, and over gateways too if said.
bool isConnected(const Topology& topology, bool over_gateways = true);

}  // namespace pop::pod
