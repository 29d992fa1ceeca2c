// SPDX-License-Identifier: Apache-2.0
// This process's MPI: started for the communicator of all instances, the first one; or the program's own, if
// it has called MPI_Init already.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/awake_clock.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::backends {

class MpiWorld {
 public:
  /// The one of this process.
  static MpiWorld& ofProcess();

  /// What this member of the first group tells the others.
  pop::Result<std::string> offer(const PopdistGroupInfo& info);
  /// With what they have told. Returns when all have started MPI, when one of them has ended, or when
  /// `info.timeout_ms` has passed: MPI then stays half started, and later calls fail as this one.
  pop::Status start(const PopdistGroupInfo& info, const std::vector<std::string>& offers);

  bool isStarted() const { return started_; }
  MPI_Comm communicator() const { return communicator_; }
  int rankOf(std::int32_t instance) const { return rank_of_instance_.at(static_cast<std::size_t>(instance)); }

 private:
  pop::Status tryStart(const PopdistGroupInfo& info, const std::vector<std::string>& offers);
  pop::Status startMpi(const PopdistGroupInfo& info, const std::string& pmi,
                       pop::sys::AwakeClock::time_point deadline);
  pop::Status rankInstances(const PopdistGroupInfo& info, const std::vector<std::string>& offers);
  pop::Status join(int ranks);

  std::string pmi_address_;  ///< of this process's server, if it has started one
  pop::Status failure_;      ///< of a start
  bool started_ = false;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::vector<int> rank_of_instance_;
};

/// The most that one message between two members carries.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{256} << 10;

/// MPI's words for an error code.
std::string mpiError(int code);

}  // namespace popdist::backends
