// SPDX-License-Identifier: Apache-2.0
// The shape of a system of IPUs, in the words that its emulator, the daemon that partitions it and the
// launcher share: IPU-Machines of four IPUs, stacked to IPU-Link domains (ILDs), which gateways join.
//
// IPU 4 * m + k of an ILD is IPU k of its machine m, both counted from the bottom; global numbers go on from
// ILD to ILD. Two IPUs make a row: left and right.
#pragma once

#include <cstdint>

namespace pop::model {

inline constexpr int kMachineIpus = 4;
inline constexpr int kMaxIldMachines = 16;  ///< a Pod64 is the largest ILD
inline constexpr int kMaxIldIpus = kMaxIldMachines * kMachineIpus;
inline constexpr int kMaxIlds = 1024;  ///< of a system; bounds what a mistyped number costs

enum class IldTopology : std::uint8_t {
  kMesh,         ///< a ladder of 2 x N IPUs
  kTorus,        ///< with loop-back cables from the top row to the bottom row
  kBarleyTwist,  ///< a torus of 2 x 2 x N: each IPU of a machine is joined to both neighbouring machines
};

enum class GatewayTopology : std::uint8_t {
  kRing,      ///< ILDs in a ring; two are joined by both ports of a gateway
  kSwitched,  ///< a switch for each gateway's slot joins all ILDs
};

struct PodShape {
  int ilds = 1;
  int machines_per_ild = kMaxIldMachines;
  IldTopology topology = IldTopology::kMesh;
  GatewayTopology gateways = GatewayTopology::kRing;

  int ildIpus() const { return machines_per_ild * kMachineIpus; }
  int ipus() const { return ilds * ildIpus(); }

  friend bool operator==(const PodShape&, const PodShape&) = default;
};

}  // namespace pop::model
