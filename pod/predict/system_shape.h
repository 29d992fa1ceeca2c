// SPDX-License-Identifier: Apache-2.0
// A Pod as predictions need it, and the two questions that they ask of whoever knows Pods.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop::pod::predict {

struct SystemShape {
  std::string name;         ///< "pod64"
  std::string chip;         ///< "Mk2", "Bow": times measured on one say nothing about the other
  int ipus_per_domain = 0;  ///< of an IPU-Link domain
  int domains = 0;          ///< IPU-Link domains, joined by GW-Links
  double slowest_ipu = 1;   ///< its speed: all others wait for it in every micro-batch

  int ipus() const { return ipus_per_domain * domains; }
};

/// kInvalidArgument: there is no such system.
using SystemByName = std::function<Result<SystemShape>(std::string_view name)>;

/// Seconds of an all-reduce of `bytes_per_replica` among the first `replicas` of a system, which must fit.
/// kInvalidArgument: it takes longer than can be counted.
using CommunicationTime = std::function<Result<double>(
    const SystemShape& system, std::uint64_t bytes_per_replica, int replicas, int ipus_per_replica)>;

}  // namespace pop::pod::predict
