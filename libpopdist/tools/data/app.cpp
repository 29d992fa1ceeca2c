// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/data/app.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "libpopdist/tools/data/comparison.h"
#include "libpopdist/tools/data/options.h"
#include "libpopdist/tools/data/trials.h"
#include "popdist/error.hpp"
#include "popdist/io.hpp"

namespace popdist::data {
namespace {

io::Dataset sourceOf(const Options& options) {
  io::Dataset dataset = !options.idx.empty()   ? io::Dataset::idx(options.idx)
                        : !options.npy.empty() ? io::Dataset::npy(options.npy)
                                               : io::Dataset::records(options.records);
  return options.shuffle_seed ? std::move(dataset).shuffle(*options.shuffle_seed) : std::move(dataset);
}

/// Elements for as many epochs as are asked for.
io::Dataset measuredOf(const Options& options) {
  io::Dataset dataset = sourceOf(options);
  if (options.batch > 0) dataset = std::move(dataset).batch(options.batch);
  return std::move(dataset).repeat().prefetch(options.prefetch);
}

/// A step that does nothing: what is left is the queues' own.
Tensors answerAtOnce(const Tensors&) {
  return Tensors(Tensor::full("result", {}, 0.0F));
}

void benchmark(const Options& options) {
  if (options.of_latency) {
    const io::Latency latency = io::inferenceLatency(sourceOf(options), answerAtOnce,
                                                     {.samples = options.benchmark.elements_per_epoch});
    std::puts(io::jsonOf(latency).c_str());
    return;
  }
  io::BenchmarkOptions quiet = options.benchmark;
  quiet.print_stats = false;  // stdout is for the JSON
  if (!options.by_infeed) {
    std::puts(io::datasetBenchmark(measuredOf(options), quiet)[0].c_str());
    return;
  }
  io::Infeed infeed(measuredOf(options), {.threads = options.threads});
  std::puts(io::infeedBenchmark(infeed, quiet)[0].c_str());
}

void run(const Options& options) {
  switch (options.verb) {
    case Verb::kBenchmark:
      return benchmark(options);
    case Verb::kRecords:
      return io::writeRecords(sourceOf(options), options.output);
    case Verb::kCompare:
      std::fputs(inWords(runTrials(options)).c_str(), stdout);
  }
}

}  // namespace

int runApp(int argc, char** argv) try {
  const Parsed parsed = parseOptions(argc, argv);
  if (parsed.exit_code) {
    std::fputs(parsed.text.c_str(), *parsed.exit_code == 0 ? stdout : stderr);
    return *parsed.exit_code;
  }
  run(parsed.options);
  if (std::fflush(stdout) == 0) return 0;
  std::fprintf(stderr, "%s: cannot write the result to stdout: %s\n", kProgram, std::strerror(errno));
  return 1;
} catch (const popdist_error& error) {
  std::fprintf(stderr, "%s: %s\n", kProgram, error.what());
  return 1;
}

}  // namespace popdist::data
