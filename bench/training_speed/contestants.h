// SPDX-License-Identifier: Apache-2.0
// Programs that train the same network on the same data, with the same batch: 2 processes, 64 samples each.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace pop::bench {

inline constexpr const char* kExample = "example";  // examples/fashion_mnist, with the best instruction set
inline constexpr const char* kDdp = "ddp";          // PyTorch's DistributedDataParallel over Gloo

struct Trainer {
  std::string name;
  std::vector<std::string> program;  // what poprun starts; the number of epochs is its last argument
  std::vector<std::string> options;  // of poprun
  std::string why_unusable;          // empty: it can be measured
};

/// Of all that there are.
std::set<std::string> trainerNames();

/// Those of `only`, all if it is empty. `directory` has our programs. Starts those that may not be usable.
std::vector<Trainer> chooseTrainers(const std::vector<std::string>& only, const std::string& directory);

/// What `blas`, the files of the BLAS that a process has loaded, says against PyTorch's figures; empty if
/// nothing.
std::string whyBlasIsSlow(const std::string& blas);

}  // namespace pop::bench
