// SPDX-License-Identifier: Apache-2.0
// Parts of an emulated Pod: numbers of IPU-Machines and of Pods, speeds of its links and its IPUs. Each
// number says where it comes from; those that were never published are marked as assumptions and can be
// changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/pod/model/picoseconds.h"

namespace popdist::pod {

using pop::Result;
using pop::Status;

/// Payload of `links` IPU-Links in one direction. A link carries 128 Gibit/s, of which 0.85 is payload: the
/// link model of Graphcore's poplibs (lib/poplibs_test/Util.cpp, addGlobalExchangeConstraints).
constexpr std::uint64_t ipuLinksBytesPerS(std::uint64_t links) {
  constexpr std::uint64_t kRawBytesPerS = std::uint64_t{16} << 30;
  return links * kRawBytesPerS * 85 / 100;
}

/// Bytes per second, each in one direction; all links are full duplex.
struct LinkSpec {
  /// IPU to the next row: 2 IPU-Links up and 2 down (poplibs, as above). 29.2 GB/s.
  std::uint64_t rail_bytes_per_s = ipuLinksBytesPerS(2);
  /// Between the two IPUs of a row, for traffic that ends there: 4 IPU-Links (poplibs). 58.4 GB/s.
  std::uint64_t rung_bytes_per_s = ipuLinksBytesPerS(4);
  /// Between the two IPUs of a row, for traffic that goes on along a rail: 2 more IPU-Links (poplibs). 29.2
  /// GB/s.
  std::uint64_t cross_rung_bytes_per_s = ipuLinksBytesPerS(2);
  /// IPU to its gateway: PCIe Gen4 x16, sold as 64 GB/s for both directions together.
  std::uint64_t host_link_bytes_per_s = 32'000'000'000;
  /// Gateway to the gateway in the same slot of a neighbouring Pod: 100 Gb Ethernet.
  std::uint64_t gw_link_bytes_per_s = 12'500'000'000;
};

struct PodSpec {
  static constexpr int kIpusPerMachine = 4;

  std::string name;
  int pods = 1;  ///< Pods in a ring of GW-Links; each is one IPU-Link domain
  int machines_per_pod = 1;
  LinkSpec links;

  /// fp32 peak of an IPU: a quarter of its fp16 peak. Mk2 GC200: 250 TFLOP/s fp16 at 1.33 GHz (product page).
  double ipu_peak_flops_per_s = 62.5e12;
  /// Assumption: the part of the peak that a training step reaches. Changes simulated compute time only.
  double achieved_fraction = 0.3;

  /// A sync signal from one row to the next (poplibs, setGlobalSyncLatency).
  Picoseconds sync_hop_latency = std::chrono::nanoseconds(15);
  /// Assumption: software and synchronisation of one step of a collective. Inferred from the sizes at which
  /// GCL changes its algorithm, which balance only if a step costs 10 to 13 us. GW-Link latency is not
  /// public: a step over GW-Links is charged the same.
  Picoseconds step_cost = std::chrono::microseconds(10);

  int ipusPerPod() const { return machines_per_pod * kIpusPerMachine; }
  int ipuCount() const { return pods * ipusPerPod(); }
};

/// The presets, smallest first: pod4 ... pod256 (Mk2 GC200), then bow-pod16 ... bow-pod256 (Bow).
const std::vector<PodSpec>& podPresets();

/// A preset by its name, in any case. kInvalidArgument otherwise; the message lists the presets.
Result<PodSpec> podSpecByName(std::string_view name);

/// The smallest Mk2 preset with at least `ipus` IPUs. kInvalidArgument when there is none.
Result<PodSpec> smallestPodFor(std::int64_t ipus);

}  // namespace popdist::pod
