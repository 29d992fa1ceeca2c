// SPDX-License-Identifier: Apache-2.0
// Describes the machine and its load during a measurement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/harness/json_line.h"
#include "common/base/status.h"

namespace pop::bench {

struct Machine {
  std::string cpu_model;
  int cores = 0;  // that this process may use
  std::string kernel;
  double memory_gb = 0;
  double load_average_1_min = 0;
};

Machine describeMachine();
JsonLine toJson(const Machine& machine);
/// "AMD EPYC, 2 cores, 8 GB, Linux 6.1.0, load average 0.25"
std::string inWords(const Machine& machine);

/// Time of all cores since boot, in clock ticks of usually 10 ms.
struct CpuTimes {
  std::int64_t busy = 0;
  std::int64_t idle = 0;   // waiting for disks included
  std::int64_t steal = 0;  // wanted, but given to another guest by the hypervisor

  CpuTimes since(const CpuTimes& earlier) const {
    return {busy - earlier.busy, idle - earlier.idle, steal - earlier.steal};
  }
  /// idle / (busy + idle + steal); 1 when no tick has passed.
  double idleFraction() const;
};

Result<CpuTimes> parseCpuTimes(std::string_view proc_stat);
/// Zero where /proc/stat cannot be read: then every span looks idle.
CpuTimes readCpuTimes();

}  // namespace pop::bench
