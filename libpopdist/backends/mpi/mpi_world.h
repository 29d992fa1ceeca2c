// SPDX-License-Identifier: Apache-2.0
// The MPI of this process: started for the communicator of all instances, which comes first; or the program's
// own, if it has called MPI_Init already.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::backends {

class MpiWorld {
 public:
  /// The only object, for this process.
  static MpiWorld& ofProcess();

  /// The offer of this member of the first group to the others: its rank in the program's own MPI, if there
  /// is one.
  static std::string offer();
  /// Starts MPI with all members' offers. Returns when all have started, when one of them has ended, or after
  /// `info.timeout_ms`: MPI then stays half started, and later calls return the same failure.
  pop::Status start(const PopdistGroupInfo& info, const std::vector<std::string>& offers);

  bool isStarted() const { return started_; }
  MPI_Comm communicator() const { return communicator_; }
  int rankOf(std::int32_t instance) const { return rank_of_instance_.at(static_cast<std::size_t>(instance)); }

 private:
  pop::Status tryStart(const PopdistGroupInfo& info, const std::vector<std::string>& offers);
  pop::Status rankInstances(const PopdistGroupInfo& info, const std::vector<std::string>& offers);
  pop::Status join(int ranks);

  pop::Status failure_;  ///< the failure of start()
  bool started_ = false;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::vector<int> rank_of_instance_;
};

/// The most bytes that one message between two members carries.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{256} << 10;

/// MPI's text for an error code.
std::string mpiError(int code);

}  // namespace popdist::backends
