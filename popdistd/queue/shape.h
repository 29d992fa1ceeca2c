// SPDX-License-Identifier: Apache-2.0
// The needs and places of jobs, as values: hosts' slots, blocks of IPUs, partitions. Hosts, pools and
// partitions are numbers: their places in the Snapshot (plan.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "popdistd/partitions/cluster.h"

namespace pop::queue {

using Time = std::chrono::sys_time<std::chrono::milliseconds>;
using JobId = std::int64_t;

/// A host that is known, whether or not it takes jobs.
struct Host {
  std::string name;
  int slots = 0;
  std::string closed;  ///< why it takes no jobs now: "host h0 is drained: disk"; empty: it does
};

/// The IPUs of an allocation.
struct Pool {
  std::string allocation;
  vipu::IpuMasks usable;  ///< on machines that are neither lost nor drained
};

struct HostShare {
  std::size_t host = 0;
  int instances = 0;

  friend bool operator==(const HostShare&, const HostShare&) = default;
};

struct IldIpus {
  std::size_t ild = 0;
  vipu::IpuMask ipus = 0;

  friend bool operator==(const IldIpus&, const IldIpus&) = default;
};

/// The resources that a job has, or would have.
struct Place {
  std::vector<HostShare> hosts;
  std::optional<std::size_t> pool;       ///< of `ipus`
  std::vector<IldIpus> ipus;             ///< in an allocation's cluster
  std::optional<std::size_t> partition;  ///< that is there already
};

/// A job's needs. Jobs with the same needs share one Shape: a pass answers them together.
struct Shape {
  std::vector<HostShare> named;                      ///< these hosts; none:
  int num_hosts = 1;                                 ///< so many, with
  int share = 1;                                     ///< so many instances on each
  std::optional<std::vector<std::size_t>> of_hosts;  ///< of these, in their order; missing: of all
  int segment_ipus = 0;                              ///< of a new partition; 0: none is made
  int segments = 1;
  std::vector<std::size_t> pools;                  ///< that it may be made in
  std::optional<std::size_t> partition;            ///< that is there, and which it alone has
  std::optional<std::size_t> allocation;           ///< its quota counts; missing: that of its pool, if any
  int instances = 1;                               ///< of the whole job
  int ipus = 0;                                    ///< of its partition
  std::optional<std::chrono::milliseconds> limit;  ///< longest run; missing: unknown
  std::string blocked;                             ///< why no job's end lets it start; empty: one does
};

}  // namespace pop::queue
