// SPDX-License-Identifier: Apache-2.0
// How quickly elements come out of a dataset, or out of an infeed. Names, arguments and the JSON are those of
// Graphcore's TensorFlow (ipu.dataset_benchmark).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/dataset.hpp"
#include "popdist/infeed.hpp"

namespace popdist::io {

struct BenchmarkOptions {
  /// Of `epochs` times `elements_per_epoch` elements each is measured by itself; both at least 1. They follow
  /// each other in the dataset, whose passes they need not be.
  int number_of_epochs = 1;
  int elements_per_epoch = 1;
  bool print_stats = true;  ///< a line for each epoch on stdout
  bool do_memcpy = true;    ///< copies each tensor to memory aligned to 4096 bytes, as a transfer would
};

/// Reads elements in the caller's thread, without reading ahead. Consumes `dataset`. The result has one
/// string, JSON:
///   {"epochs":[{"bandwidth":1.5,"elements_per_second":…,"elements_processed":512.0,"time_elapsed":…,
///               "total_bytes_processed":…}, …]}
/// Numbers have the precision of 32-bit floats; time in s, bandwidth in bytes / (1e9 * s). Throws
/// popdist_error kInvalidArgument naming the option that is below 1, kOutOfRange when the dataset has fewer
/// elements, and what the dataset throws.
std::vector<std::string> datasetBenchmark(Dataset dataset, const BenchmarkOptions& options);

/// The same for what Infeed::next() of its first replica returns; goes to the start of epoch 0 first.
std::vector<std::string> infeedBenchmark(Infeed& infeed, const BenchmarkOptions& options);

}  // namespace popdist::io
