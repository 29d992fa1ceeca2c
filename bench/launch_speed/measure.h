// SPDX-License-Identifier: Apache-2.0
// Takes the figures of jobs on this host.
#pragma once

#include <string>
#include <vector>

#include "bench/launch_speed/contestants.h"
#include "bench/launch_speed/figures.h"
#include "bench/launch_speed/options.h"

namespace pop::bench {

/// A program that needs an MPI library, and the contestant that comes with that library.
struct MpiProgram {
  std::string name;
  std::string path;
  std::string own_launcher;
};

struct JobPrograms {
  std::string true_path;
  std::string rank_path;
  std::vector<MpiProgram> mpi;  // those whose library is installed
};

/// Returns why the contestant cannot run a job of one process; empty if it can.
std::string whyUnusable(const Contestant& contestant, const JobPrograms& programs);

Figures measureAll(const std::vector<Contestant>& contestants, const JobPrograms& programs,
                   const LaunchOptions& options);

}  // namespace pop::bench
