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

  /// In a ring of ILDs, by ILD: ids of the GW-Links of the gateways in a slot to the next ILD, or to the one
  /// before; -1: removed.
  std::span<const int> ring(int slot, bool upwards) const {
    const auto ilds = static_cast<std::size_t>(spec_.ilds());
    return std::span(rings_).subspan((2 * static_cast<std::size_t>(slot) + (upwards ? 1 : 0)) * ilds, ilds);
  }

  /// The id of the link of this kind from one node to another, -1 if there is none.
  int linkId(int from, int to, LinkKind kind) const;

 private:
  void addBoth(int a, int b, LinkKind kind, std::uint64_t bytes_per_s);
  void addRows(int ild);
  void addSquares(int ild);
  void addHostLinks();
  void addGwLinks();
  void addRing(std::uint64_t port_bytes_per_s);
  void indexLinks();

  PodSpec spec_;
  int gateways_ = 0;
  int switches_ = 0;
  std::vector<Link> links_;
  std::vector<int> rings_;     // by slot, down and up, by ILD: in the order in which ways take them
  std::vector<int> first_of_;  // by node: where its links begin in by_node_
  std::vector<int> by_node_;
};

/// True if every IPU reaches every other one: by IPU-Links, and over gateways too if said.
bool isConnected(const Topology& topology, bool over_gateways = true);

}  // namespace pop::pod
