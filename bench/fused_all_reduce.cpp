// SPDX-License-Identifier: Apache-2.0
// Measures the cost of many small tensors, fused, beside one large tensor of as many bytes.
//
// usage: poprun --num-instances 2 bench_fused_all_reduce [tensors [bytes of each [bucket bytes…]]]
//
// Instance 0 prints a JSON line for each way and bucket size: the median over kBatches batches of a step's
// time (the slowest instance's), in microseconds. "ratio" is relative to "one", in the same kind of memory:
//   one     Communicator::allReduce of one tensor
//   async   the same by AsyncCommunicator, awaited at once
//   single  one collective for each tensor
//   fused   FusedAllReduce::reduce(): all ready, wait
// The ways take turns in each batch, so that disturbances of the machine affect all of them. float32, sum.
// Each way's sum of ones is checked before and after the batches. The timed values are infinity, which sums
// leave unchanged: zeros would be cheaper to store than data.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/session.h"
#include "bench/harness/statistics.h"
#include "popdist/buffer.hpp"
#include "popdist/popdist.hpp"

namespace {

using pop::bench::Clock;
using pop::bench::summarize;
using popdist::AsyncCommunicator;
using popdist::Buffer;
using popdist::Context;
using popdist::FusedAllReduce;
using popdist::FusedTensor;
using popdist::Type;

constexpr int kBatches = 31;
constexpr double kBatchUs = 5000;

constexpr std::size_t kGap = 16;  // elements

struct Tensors {
  std::size_t number = 0;
  std::size_t count = 0;  ///< elements of each
};

struct Way {
  std::string name;
  const char* memory = "";
  std::span<float> data{};
  std::size_t gap = 0;  ///< elements between its tensors
  std::size_t bucket_bytes = 0;
  std::function<void()> step{};
  std::size_t compared_with = 0;  ///< index of "one"
  int steps = 1;                  ///< in a batch
  std::vector<double> batch_us{};
};

// All instances leave it with the slowest one's.
double stepUs(Way& way) {
  popdist::Communicator& world = Context::fromEnvironment().world();
  world.barrier();
  const auto begin = Clock::now();
  for (int step = 0; step < way.steps; ++step) way.step();
  double us = pop::bench::secondsSince(begin) * 1e6 / way.steps;
  world.allReduce(&us, &us, 1, Type::kDouble, popdist::Operator::kMax);
  return us;
}

// Tensors one behind the other, with `gap` elements between them.
std::vector<FusedTensor> tensorsIn(float* memory, std::size_t tensors, std::size_t count, std::size_t gap) {
  std::vector<FusedTensor> all;
  for (std::size_t i = 0; i < tensors; ++i)
    all.push_back({"tensor " + std::to_string(i), memory + i * (count + gap), count, Type::kFloat});
  return all;
}

void check(const Way& way, const Tensors& tensors) {
  std::fill(way.data.begin(), way.data.end(), 1.0F);
  way.step();
  const auto sum = static_cast<float>(popdist::getNumInstances());
  for (std::size_t tensor = 0; tensor < tensors.number; ++tensor) {
    const auto values = way.data.subspan(tensor * (tensors.count + way.gap), tensors.count);
    if (std::all_of(values.begin(), values.end(), [&](float value) { return value == sum; })) continue;
    std::fprintf(stderr, "wrong result of %s in %s memory, tensor %zu\n", way.name.c_str(), way.memory,
                 tensor);
    std::exit(1);
  }
}

void measure(std::vector<Way>& ways) {
  for (const Way& way : ways)
    std::fill(way.data.begin(), way.data.end(), std::numeric_limits<float>::infinity());
  for (Way& way : ways) {
    stepUs(way);
    way.steps = std::max(1, static_cast<int>(kBatchUs / stepUs(way)));
  }
  for (int batch = 0; batch < kBatches; ++batch) {
    for (Way& way : ways) way.batch_us.push_back(stepUs(way));
  }
}

void report(const std::vector<Way>& ways, std::size_t tensors, std::size_t bytes) {
  for (const Way& way : ways) {
    const pop::bench::Summary us = summarize(way.batch_us);
    pop::bench::JsonLine line("fused_all_reduce");
    line.add("way", way.name).add("memory", way.memory).add("ranks", popdist::getNumInstances());
    line.add("tensors", tensors).add("tensor_bytes", bytes).add("bucket_bytes", way.bucket_bytes);
    line.add("median_us", us.median).add("min_us", us.min);
    pop::bench::record(line.add("ratio", us.median / summarize(ways[way.compared_with].batch_us).median));
  }
}

// All of one kind of memory, "one" first.
void addWays(const Tensors& tensors, std::span<float> data, const char* memory_name,
             const std::vector<std::size_t>& buckets, AsyncCommunicator& members, std::vector<Way>& ways) {
  Context& context = Context::fromEnvironment();
  popdist::Communicator& world = context.world();
  float* const memory = data.data();
  const std::size_t one = ways.size();
  const auto add = [&](Way way) {
    way.memory = memory_name;
    way.data = data;
    way.compared_with = one;
    ways.push_back(std::move(way));
  };
  const std::size_t all = tensors.number * tensors.count;
  add({.name = "one", .step = [=, &world] { world.allReduce(memory, memory, all, Type::kFloat); }});
  add({.name = "async",
       .step = [=, &members] { members.allReduce("one", memory, memory, all, Type::kFloat).wait(); }});
  add({.name = "single", .gap = kGap, .step = [=, &world] {
         for (std::size_t i = 0; i < tensors.number; ++i) {
           float* const tensor = memory + i * (tensors.count + kGap);
           world.allReduce(tensor, tensor, tensors.count, Type::kFloat);
         }
       }});
  for (const std::size_t bucket_bytes : buckets) {
    for (const std::size_t gap : {kGap, std::size_t{0}}) {
      const auto fused =
          std::make_shared<FusedAllReduce>(context, members, "fused " + std::to_string(ways.size()),
                                           tensorsIn(memory, tensors.number, tensors.count, gap),
                                           popdist::FusionOptions{.bucket_bytes = bucket_bytes});
      add({.name = gap > 0 ? "fused" : "fused in one piece",
           .gap = gap,
           .bucket_bytes = bucket_bytes,
           .step = [fused] { fused->reduce(); }});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::size_t bytes = argument(2, 4096);
  const Tensors tensors{.number = argument(1, 1000), .count = bytes / sizeof(float)};
  std::vector<std::size_t> buckets;
  for (int i = 3; i < argc; ++i) buckets.push_back(argument(i, 0));
  if (buckets.empty()) buckets.push_back(popdist::FusionOptions{}.bucket_bytes);

  Context& context = Context::fromEnvironment();
  std::set<unsigned> all;
  for (unsigned i = 0; i < static_cast<unsigned>(context.numInstances()); ++i) all.insert(i);
  AsyncCommunicator members(context.createCommunicator(all));
  std::vector<float> own(tensors.number * (tensors.count + kGap));
  const Buffer shared(context, own.size() * sizeof(float));
  std::vector<Way> ways;
  addWays(tensors, own, "private", buckets, members, ways);
  addWays(tensors, {shared.as<float>(), own.size()}, "shared", buckets, members, ways);
  const auto checkAll = [&] {
    for (const Way& way : ways) check(way, tensors);
  };
  checkAll();
  measure(ways);
  checkAll();
  if (context.instanceIndex() == 0) report(ways, tensors.number, bytes);
  return 0;
}
