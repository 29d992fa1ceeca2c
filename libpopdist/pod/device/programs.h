// SPDX-License-Identifier: Apache-2.0
// The collectives of a job on its Pod, compiled: the copies, and how long the Pod would take for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/collectives/plan/plan.h"
#include "libpopdist/pod/device/program_cache.h"
#include "pod/clock/tuner.h"
#include "pod/clock/uses.h"
#include "pod/collectives/collective.h"
#include "pod/system/replica_layout.h"
#include "pod/system/topology.h"
#include "popdist/pod.hpp"

namespace popdist::pod {

using namespace pop::pod;

struct Program {
  const ReplicaLayout* layout;  ///< of the schedule's ranks; outlives it
  Collective collective;
  Schedule schedule;
  PodCollective report;
  std::vector<plan::Plan> plans{};     ///< of the local replicas, once they have been needed
  std::unique_ptr<const Uses> uses{};  ///< once a trace has needed them
};

class Programs {
 public:
  /// `method` as GCL_OPTIONS names it.
  Programs(ReplicaLayout layout, std::string method, std::string cache_directory);

  const ReplicaLayout& layout() const { return layout_; }
  /// Those of collectives within these replicas: each IPU is a rank.
  std::unique_ptr<Programs> withinReplicas() const {
    return std::make_unique<Programs>(ofSingleIpus(layout_), method_, cache_.directory());
  }

  /// The program of a collective, whose group must be valid, by `method`, or by the Pod's if that is empty.
  /// Training repeats the same ones: each is compiled once, as long as they are not too many. It stays until
  /// the next call. kInvalidArgument: as scheduleByName.
  pop::Result<Program*> of(const Collective& collective, std::string_view method = {});
  /// The same, from the cache's file if it has one.
  pop::Result<Program*> stored(const Collective& collective, std::string_view method = {});
  const ProgramCache& cache() const { return cache_; }

 private:
  using Key = std::tuple<CollectiveKind, int, int, std::uint64_t, std::size_t, int, std::string>;

  pop::Result<Program*> get(const Collective& collective, std::string_view method, bool from_cache);
  pop::Result<CompiledCollective> compile(const Collective& collective, const std::string& method) const;
  std::string textOf(const Key& key) const;

  const ReplicaLayout layout_;
  const Topology topology_;
  const std::string method_;
  ProgramCache cache_;
  std::map<Key, Program> programs_;
};

}  // namespace popdist::pod
