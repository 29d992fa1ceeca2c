// SPDX-License-Identifier: Apache-2.0
// Speed of a dataset, or of an infeed: names, arguments and the JSON are those of Graphcore's TensorFlow
// (ipu.dataset_benchmark). And the time of a single sample from request to result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/dataset.hpp"
#include "popdist/infeed.hpp"

namespace popdist::io {

struct BenchmarkOptions {
  /// Each of `number_of_epochs` parts of `elements_per_epoch` elements is measured by itself; both at least
  /// 1. Parts follow each other in the dataset, whose passes they need not be.
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

struct LatencyOptions {
  int samples = 1000;  ///< that are measured, at least 1
  int warm_up = 20;    ///< before them, at least 0
};

/// Latency of single samples, in microseconds.
struct Latency {
  int samples = 0;
  double p50_us = 0;  ///< half of them took no longer
  double p99_us = 0;
  double max_us = 0;
};

/// Answers one request after the other, each with an element of `samples` (from the first again after the
/// last): the caller hands the element in, an infeed takes it to a loop in a thread of its own, `step` makes
/// results of it, an outfeed brings them back. A latency is the time from handing the element in to having
/// the results; there is no other request meanwhile, and reading the element comes before. With a step that
/// does nothing it is what the queues add to a model's own time. Throws popdist_error kInvalidArgument naming
/// the option that is out of range, kOutOfRange when `samples` has no element, and what `samples` or `step`
/// throw.
Latency inferenceLatency(const Dataset& samples, const std::function<Tensors(const Tensors& sample)>& step,
                         const LatencyOptions& options = {});

/// {"latency":{"max_us":…,"p50_us":…,"p99_us":…,"samples":1000}}
std::string jsonOf(const Latency& latency);

}  // namespace popdist::io
