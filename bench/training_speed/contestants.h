// SPDX-License-Identifier: Apache-2.0
// Programs that train the same networks on the same data, with the same batch: 2 processes, 64 samples each;
// and the options of bench_training.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/options.h"

namespace pop::bench {

inline constexpr const char* kExample = "example";  // examples/fashion_mnist, with the best instruction set
inline constexpr const char* kDdp = "ddp";          // PyTorch's DistributedDataParallel over Gloo

/// A network of the example's, its goal, and what its name adds to those of the two contestants.
struct Model {
  const char* name;
  const char* suffix;
  double times_the_peer;
};
inline constexpr Model kModels[] = {{"mlp", "", 4}, {"cnn", "-cnn", 1.5}, {"small-cnn", "-small-cnn", 3}};

struct Trainer {
  std::string name;
  std::vector<std::string> program;  // what poprun starts; the number of epochs is its last argument
  std::vector<std::string> options;  // of poprun
  std::string why_unusable;          // empty: it can be measured
};

struct TrainingOptions : RunOptions {
  int epochs = 10;
  int rounds = 5;
};

/// kInvalidArgument names what is wrong with the command line.
Result<TrainingOptions> parseTrainingOptions(int argc, const char* const* argv);

/// The names of all contestants.
std::vector<std::string> trainerNames();

/// The contestants named in `only`; empty: all. `directory` contains our programs. May start programs to see
/// whether they are usable.
std::vector<Trainer> chooseTrainers(const std::vector<std::string>& only, const std::string& directory);

/// Returns why `blas`, the BLAS files that a process has loaded, makes PyTorch's figures unfair; empty if it
/// does not.
std::string whyBlasIsSlow(const std::string& blas);

}  // namespace pop::bench
