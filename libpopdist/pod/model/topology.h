// SPDX-License-Identifier: Apache-2.0
// The directed links of a Pod system. In each Pod the IPUs form a ladder (a 2xN mesh, the default of
// IPU-Links; the loop-back cables of a torus are not modelled). Every IPU-Machine has a gateway, joined to
// its four IPUs by Host-Links and to the gateways in the same slot of the neighbouring Pods by GW-Links,
// which form a ring of Pods; two Pods are joined by one pair of GW-Links a machine. Switches between gateways
// are taken as transparent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libpopdist/pod/model/pod_spec.h"

namespace popdist::pod {

enum class LinkKind : std::uint8_t {
  kRung,       ///< between the two IPUs of a row, for traffic that ends there
  kCrossRung,  ///< between the two IPUs of a row, for traffic that goes on along a rail
  kRail,       ///< to the same column of the next row, up or down, also across IPU-Machines
  kHostLink,   ///< between an IPU and its gateway
  kGwLink,     ///< between gateways of neighbouring Pods
};

/// Nodes 0 .. ipuCount-1 are the IPUs, then comes one gateway for each IPU-Machine.
struct Link {
  int id = 0;  ///< index in Topology::links()
  int from = 0;
  int to = 0;
  LinkKind kind = LinkKind::kRail;
  std::uint64_t bytes_per_s = 0;
};

class Topology {
 public:
  explicit Topology(PodSpec spec);

  const PodSpec& spec() const { return spec_; }
  std::span<const Link> links() const { return links_; }
  int gatewayOf(int ipu) const;

  /// The id of the link of this kind from one node to another. There must be one.
  int linkId(int from, int to, LinkKind kind) const;

 private:
  void addBoth(int a, int b, LinkKind kind, std::uint64_t bytes_per_s);
  void addLink(int from, int to, LinkKind kind, std::uint64_t bytes_per_s);
  void addLadder(int pod);
  void addHostLinks();
  void addGwLinks(int pod, int next_pod);

  PodSpec spec_;
  std::vector<Link> links_;
  std::vector<std::vector<int>> links_from_;  // by node: at most six ids
};

}  // namespace popdist::pod
