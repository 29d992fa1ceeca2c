// SPDX-License-Identifier: Apache-2.0
// Systems and a communication time that tests can compute in their heads.
#pragma once

#include <string>

#include "pod/predict/system_shape.h"

namespace pop::pod::predict::testing {

inline SystemShape mk2(int pods) {
  return {"pod" + std::to_string(64 * pods), "Mk2", 64, pods};
}

/// pod16 to pod256, and bow- in front of them.
inline Result<SystemShape> systemByName(std::string_view name) {
  SystemShape system{std::string(name), "Mk2", 64, 1};
  if (name.starts_with("bow-")) {
    system.chip = "Bow";
    name.remove_prefix(4);
  }
  if (name == "pod16") system.ipus_per_domain = 16;
  if (name == "pod128") system.domains = 2;
  if (name == "pod256") system.domains = 4;
  if (name == "pod16" || name == "pod64" || name == "pod128" || name == "pod256") return system;
  return invalidArgument("no Pod is called '" + std::string(name) + "'");
}

inline double noCommunication(const SystemShape&, std::uint64_t, int, int) {
  return 0;
}

/// A ring over all replicas, half of the way round in each direction: links of 29.2 GB/s of every IPU, and 10
/// us for each of its steps.
inline double ring(const SystemShape&, std::uint64_t bytes, int replicas, int ipus_per_replica) {
  return replicas * (static_cast<double>(bytes) / replicas / ipus_per_replica / 29.2e9 + 10e-6);
}

}  // namespace pop::pod::predict::testing
