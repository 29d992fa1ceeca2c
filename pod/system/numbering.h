// SPDX-License-Identifier: Apache-2.0
// Numbers of IPUs and IPU-Machines. An IPU-Link domain is two columns of IPUs: IPU 0 bottom left, IPU 1 to
// its right, then row by row upwards; two rows make an IPU-Machine. Global numbers go on from ILD to ILD.
#pragma once

#include <cstdint>

#include "pod/system/pod_spec.h"

namespace pop::pod {

struct IpuPosition {
  int ild = 0;
  int machine = 0;  ///< within the ILD, 0 at the bottom
  int row = 0;      ///< within the ILD, 0 at the bottom
  int column = 0;   ///< 0 left, 1 right

  friend bool operator==(const IpuPosition&, const IpuPosition&) = default;
};

IpuPosition positionOf(const PodSpec& spec, int ipu);
int ipuAt(const PodSpec& spec, int ild, int row, int column);

/// The IPU-Machine of an IPU, counted over all ILDs.
inline int machineOf(int ipu) {
  return ipu / kMachineIpus;
}

/// Replica r has the IPUs [r * ipus_per_replica, (r + 1) * ipus_per_replica).
inline int firstIpuOf(int replica, int ipus_per_replica) {
  return replica * ipus_per_replica;
}

/// IPUs of the partition that holds `ipus` IPUs: V-IPU makes partitions of a power of two. 1 <= ipus <= 2^30.
int partitionIpus(int ipus);

/// The device id of the aligned group [first_ipu, first_ipu + ipus) of a partition: ids number the single
/// IPUs first, then the groups of 2, of 4, and so on. 16 IPUs: 0-15 singles, 16-23 pairs, 24-27 fours, 28-29
/// eights, 30 all. partition_ipus and ipus are powers of two, first_ipu is a multiple of ipus and counts
/// within the partition.
int deviceId(int partition_ipus, int first_ipu, int ipus);

}  // namespace pop::pod
