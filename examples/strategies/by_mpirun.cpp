// SPDX-License-Identifier: Apache-2.0
// Started by any mpirun, without MPI in the program: rank and size make its TF_CONFIG. With several hosts it
// would need their names; see SimpleResolver.
//
//   mpirun -np 2 --bind-to core --map-by slot:PE=4 by_mpirun [BASE_PORT]
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "fit.h"

namespace {

/// A number that Open MPI, or MPICH and its relatives, put into the environment.
int fromMpi(const char* open_mpi, const char* mpich) {
  const char* text = std::getenv(open_mpi);
  if (text == nullptr) text = std::getenv(mpich);
  if (text == nullptr)
    throw std::runtime_error(std::string("neither ") + open_mpi + " nor " + mpich +
                             " is set: start this program by mpirun");
  return std::atoi(text);
}

}  // namespace

int main(int argc, char** argv) try {
  const int rank = fromMpi("OMPI_COMM_WORLD_RANK", "PMI_RANK");
  const int size = fromMpi("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
  popdist::train::setTfConfig(rank, size, argc > 1 ? std::atoi(argv[1]) : 3737);
  const auto context = popdist::train::contextFor();
  popdist::train::IpuMultiWorkerStrategy strategy(*context);
  fit(strategy);
} catch (const std::exception& error) {
  std::fprintf(stderr, "by_mpirun: %s\n", error.what());
  return 1;
}
