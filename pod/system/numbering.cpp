// SPDX-License-Identifier: Apache-2.0
#include "pod/system/numbering.h"

#include <bit>

#include "common/base/check.h"

namespace pop::pod {
namespace {

bool isPowerOfTwo(int number) {
  return number > 0 && std::has_single_bit(static_cast<unsigned>(number));
}

}  // namespace

IpuPosition positionOf(const PodSpec& spec, int ipu) {
  POP_CHECK(ipu >= 0 && ipu < spec.ipuCount());
  const int in_ild = ipu % spec.ildIpus();
  return {ipu / spec.ildIpus(), in_ild / kMachineIpus, in_ild / 2, in_ild % 2};
}

int ipuAt(const PodSpec& spec, int ild, int row, int column) {
  return ild * spec.ildIpus() + 2 * row + column;
}

int partitionIpus(int ipus) {
  POP_CHECK(ipus >= 1 && ipus <= (1 << 30));
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(ipus)));
}

int deviceId(int partition_ipus, int first_ipu, int ipus) {
  POP_CHECK(isPowerOfTwo(partition_ipus) && isPowerOfTwo(ipus) && ipus <= partition_ipus);
  POP_CHECK(first_ipu >= 0 && first_ipu % ipus == 0 && first_ipu < partition_ipus);
  // The smaller groups take p + p/2 + ... + 2p/ipus ids.
  const int smaller_groups = 2 * partition_ipus - 2 * (partition_ipus / ipus);
  return smaller_groups + first_ipu / ipus;
}

}  // namespace pop::pod
