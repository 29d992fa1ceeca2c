// SPDX-License-Identifier: Apache-2.0
// The daemon's counters and momentary values, which /metrics shows. Each component that counts keeps a
// Meters, adds to it, and returns a copy on request; docs/reference/metrics.md says what each means.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "popdistd/api/histogram.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

// ---- of jobs

struct JobMeters {
  std::array<std::uint64_t, v1::JobEnd_ARRAYSIZE> ended{};  ///< by v1::JobEnd
  std::uint64_t adopted = 0;                                ///< runners of an earlier life of the daemon
  Histogram queue_seconds{kJobBounds};                      ///< from Submit until it is started
  Histogram start_seconds{kJobBounds};  ///< from Submit until all its instances run, the first time
  Histogram run_seconds{kJobBounds};    ///< from its start to its end
};

struct JobMeasures {
  JobMeters meters;
  std::array<int, v1::JobState_ARRAYSIZE> in_state{};     ///< by v1::JobState
  std::array<int, v1::WaitCause_ARRAYSIZE> queued_for{};  ///< by v1::WaitCause
  int unreachable = 0;
  int orphans = 0;
  int instances_running = 0;
};

// ---- of partitions

enum class PartitionOperation : std::uint8_t { kCreate, kReset, kRemove };
inline constexpr std::size_t kPartitionOperations = 3;

struct PartitionMeters {
  struct Done {
    std::uint64_t well = 0;
    std::uint64_t badly = 0;
    Histogram seconds{kMomentBounds};  ///< from its beginning
  };
  std::array<Done, kPartitionOperations> done;  ///< by PartitionOperation
  std::uint64_t auto_resets = 0;
  std::map<std::string, double> ipu_seconds;  ///< by the user who owns the partition
};

/// The IPUs of an allocation, each in one state.
struct IpuMeasures {
  std::string cluster;
  std::string allocation;
  int used = 0;         ///< in a partition that has a holder
  int held = 0;         ///< in a partition without a holder
  int free = 0;         ///< in none
  int unusable = 0;     ///< in none, on a machine that is lost or drained
  int in_error = 0;     ///< in a partition in error
  int quarantined = 0;  ///< in a partition whose end cannot be proved
  int largest_free_block = 0;
};

struct PodMeasures {
  PartitionMeters meters;
  std::map<std::string, int> partitions;  ///< by V-IPU's ready state, "ACTIVE"
  std::vector<IpuMeasures> ipus;
  std::map<std::string, int> user_ipus;  ///< by the user who owns the partition
};

// ---- of hosts and the store

struct HostMeasures {
  std::string name;
  v1::HostState state = v1::HOST_UP;
  bool drained = false;
};

struct CommitMeters {
  Histogram seconds{kMomentBounds};  ///< of those that had something to write
  std::uint64_t failed = 0;
};

// ---- all that the core knows

struct CoreMeasures {
  std::string version;
  std::uint64_t epoch = 0;
  JobMeasures jobs;
  PodMeasures pods;
  std::vector<HostMeasures> hosts;
  CommitMeters commits;
  std::map<std::string, std::int64_t> store_rows;  ///< by kind of row: "jobs"
  std::int64_t store_bytes = 0;
  std::uint64_t log_bytes = 0;        ///< of jobs' records, sent to readers
  std::uint64_t watch_resyncs = 0;    ///< watchers that began anew
  Histogram loop_lag{kMomentBounds};  ///< delay of the loop's timer, sampled each second
};

// ---- of the transports

struct RpcMeters {
  using Key = std::tuple<std::string, std::string, int>;  ///< service, method, gRPC's code
  std::map<Key, std::uint64_t> requests;
  Histogram seconds{kMomentBounds};  ///< of calls that do not stream
  std::map<std::string, int> open;   ///< streams, by their method
};

struct HttpMeters {
  std::map<int, std::uint64_t> answers;  ///< by HTTP's status
  int streams = 0;                       ///< open
};

struct CertificateMeasures {
  std::string file;  ///< "certificate", "authority"
  double seconds_left = 0;
};

struct ProcessMeasures {
  double cpu_seconds = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t virtual_bytes = 0;
  std::int64_t open_files = 0;
  std::int64_t most_files = 0;
  double started = 0;  ///< seconds since 1970
  std::int64_t threads = 0;
};

struct Measures {
  CoreMeasures core;
  RpcMeters rpc;
  HttpMeters http;
  std::vector<CertificateMeasures> certificates;
  ProcessMeasures process;
};

}  // namespace pop::popdistd
