// SPDX-License-Identifier: Apache-2.0
// A system of IPUs as a value: its shape or its own wiring, the rates of its links, the costs of its steps.
// Each number says where it comes from; those that were never published are marked as assumptions and can be
// changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/model/pod_shape.h"
#include "pod/system/picoseconds.h"

namespace pop::pod {

using model::GatewayTopology;
using model::IldTopology;
using model::kMachineIpus;
using model::kMaxIldIpus;
using model::PodShape;

/// Payload of `links` IPU-Links in one direction. A link carries 128 Gibit/s, of which 0.85 is payload: the
/// link model of Graphcore's poplibs (lib/poplibs_test/Util.cpp, addGlobalExchangeConstraints).
constexpr std::uint64_t ipuLinksBytesPerS(std::uint64_t links) {
  constexpr std::uint64_t kRawBytesPerS = std::uint64_t{16} << 30;
  return links * kRawBytesPerS * 85 / 100;
}

enum class LinkKind : std::uint8_t {
  kRung,       ///< between the two IPUs of a row, for traffic that ends there
  kCrossRung,  ///< between the two IPUs of a row, for traffic that goes on along a rail
  kRail,       ///< to the same column of the next row, up or down, and every IPU-Link of a wiring of its own
  kHostLink,   ///< between an IPU and its gateway
  kGwLink,     ///< between gateways, or a gateway and a switch
};

/// Bytes per second, each in one direction; all links are full duplex.
struct LinkSpec {
  /// IPU to the next row: 2 IPU-Links up and 2 down (poplibs, as above). 29.2 GB/s.
  std::uint64_t rail_bytes_per_s = ipuLinksBytesPerS(2);
  /// Between the two IPUs of a row, for traffic that ends there: 4 IPU-Links (poplibs). 58.4 GB/s.
  std::uint64_t rung_bytes_per_s = ipuLinksBytesPerS(4);
  /// Between the two IPUs of a row, for traffic that goes on along a rail: 2 more IPU-Links (poplibs). 29.2
  /// GB/s. A barley twist has none: those two are its square's other side.
  std::uint64_t cross_rung_bytes_per_s = ipuLinksBytesPerS(2);
  /// IPU to its gateway: PCIe Gen4 x16, sold as 64 GB/s for both directions together.
  std::uint64_t host_link_bytes_per_s = 32'000'000'000;
  /// A port of a gateway, which has two: 100 Gb Ethernet. In a ring one goes to each neighbour, between two
  /// ILDs both go to the other, to a switch both go to it.
  std::uint64_t gw_link_bytes_per_s = 12'500'000'000;
};

/// A link in both directions. Nodes as in Topology.
struct Wire {
  int a = 0;
  int b = 0;
  LinkKind kind = LinkKind::kRail;
  std::uint64_t bytes_per_s = 0;

  friend bool operator==(const Wire&, const Wire&) = default;
};

/// Instead of a shape: IPUs, gateways and switches, and each link between them. One IPU-Link domain.
struct Wiring {
  int ipus = 0;
  int gateways = 0;
  int switches = 0;
  std::vector<Wire> wires;
};

struct PodSpec {
  std::string name;
  PodShape shape{.machines_per_ild = 1};
  /// Neighbouring machines of an ILD that share a gateway: 1, or all of a Mk1 server, whose host it is.
  int machines_per_gateway = 1;
  LinkSpec links;
  std::optional<Wiring> wiring;
  std::vector<std::pair<int, int>> removed_links;    ///< between two nodes, in both directions
  std::vector<std::pair<int, double>> speed_of_ipu;  ///< of its compute, where it is not 1

  /// fp32 peak of an IPU: a quarter of its fp16 peak. Mk2 GC200: 250 TFLOP/s fp16 at 1.33 GHz (product page).
  double ipu_peak_flops_per_s = 62.5e12;
  /// Assumption: the part of the peak that a training step reaches. Changes simulated compute time only.
  double achieved_fraction = 0.3;

  /// A sync signal from one row to the next (poplibs, setGlobalSyncLatency).
  Picoseconds sync_hop_latency = std::chrono::nanoseconds(15);
  /// A message is late by this for each link on its way. Not public; a part of step_cost as that was
  /// inferred.
  Picoseconds link_latency{0};
  /// Assumption: software and synchronisation of one step of a collective. Inferred from the sizes at which
  /// GCL changes its algorithm, which balance only if a step costs 10 to 13 us. GW-Link latency is not
  /// public: a step over GW-Links is charged the same.
  Picoseconds step_cost = std::chrono::microseconds(10);

  int ilds() const { return wiring ? 1 : shape.ilds; }
  int ildIpus() const { return wiring ? wiring->ipus : shape.ildIpus(); }
  int ipuCount() const { return ilds() * ildIpus(); }
  int gatewaysPerIld() const;
  /// The topology that rings of replicas are chosen for.
  IldTopology ringTopology() const { return wiring ? IldTopology::kMesh : shape.topology; }
};

/// The presets, smallest first: pod4 ... pod256 (Mk2 GC200), bow-pod16 ... bow-pod256 (Bow), mk1 servers, and
/// pod64-torus, pod64-twist.
const std::vector<PodSpec>& podPresets();

/// A preset by its name, in any case. kInvalidArgument otherwise; the message lists the presets.
Result<PodSpec> podSpecByName(std::string_view name);

/// The smallest Mk2 preset with at least `ipus` IPUs. kInvalidArgument when there is none.
Result<PodSpec> smallestPodFor(std::int64_t ipus);

}  // namespace pop::pod
