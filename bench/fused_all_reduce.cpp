// SPDX-License-Identifier: Apache-2.0
// Many small tensors, fused, beside one large one of as many bytes: how much does it cost that they are many?
//
// usage: poprun --num-instances 2 bench_fused_all_reduce [tensors [bytes of each [bucket bytes…]]]
//
// Instance 0 prints a JSON line for each way and bucket size: the median over kBatches batches of a step's
// time, which is the slowest instance's, in microseconds. "ratio" is that to "one", of the same kind of
// memory:
//   one     Communicator::allReduce of one tensor
//   async   the same by AsyncCommunicator, awaited at once
//   single  one collective for each tensor
//   fused   FusedAllReduce::reduce(): all ready, wait
// Ways take turns in each batch, so that what else the machine does hits all of them. float32, sum.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "popdist/buffer.hpp"
#include "popdist/popdist.hpp"

namespace {

using popdist::AsyncCommunicator;
using popdist::Buffer;
using popdist::Context;
using popdist::FusedAllReduce;
using popdist::FusedTensor;
using popdist::Type;
using Clock = std::chrono::steady_clock;

constexpr int kBatches = 31;
constexpr double kBatchUs = 5000;

struct Way {
  std::string name;
  const char* memory = "";
  std::size_t bucket_bytes = 0;
  std::function<void()> step;
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
  double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / way.steps;
  world.allReduce(&us, &us, 1, Type::kDouble, popdist::Operator::kMax);
  return us;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kBatches / 2, values.end());
  return values[kBatches / 2];
}

// Tensors one behind the other, with `gap` elements between them.
std::vector<FusedTensor> tensorsIn(float* memory, std::size_t tensors, std::size_t count, std::size_t gap) {
  std::vector<FusedTensor> all;
  for (std::size_t i = 0; i < tensors; ++i)
    all.push_back({"tensor " + std::to_string(i), memory + i * (count + gap), count, Type::kFloat});
  return all;
}

void measure(std::vector<Way>& ways) {
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
    const double us = median(way.batch_us);
    std::printf(
        "{\"way\": \"%s\", \"memory\": \"%s\", \"ranks\": %d, \"tensors\": %zu, \"tensor_bytes\": %zu, "
        "\"bucket_bytes\": %zu, \"median_us\": %.1f, \"min_us\": %.1f, \"ratio\": %.2f}\n",
        way.name.c_str(), way.memory, popdist::getNumInstances(), tensors, bytes, way.bucket_bytes, us,
        *std::min_element(way.batch_us.begin(), way.batch_us.end()),
        us / median(ways[way.compared_with].batch_us));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::size_t tensors = argument(1, 1000);
  const std::size_t bytes = argument(2, 4096);
  const std::size_t count = bytes / sizeof(float);
  std::vector<std::size_t> buckets;
  for (int i = 3; i < argc; ++i) buckets.push_back(argument(i, 0));
  if (buckets.empty()) buckets.push_back(popdist::FusionOptions{}.bucket_bytes);

  Context& context = Context::fromEnvironment();
  std::set<unsigned> all;
  for (unsigned i = 0; i < static_cast<unsigned>(context.numInstances()); ++i) all.insert(i);
  AsyncCommunicator members(context.createCommunicator(all));
  popdist::Communicator& world = context.world();
  constexpr std::size_t kGap = 16;  // elements
  std::vector<float> own(tensors * (count + kGap));
  const Buffer shared(context, own.size() * sizeof(float));
  float* const memories[] = {own.data(), shared.as<float>()};

  std::vector<Way> ways;
  std::vector<std::unique_ptr<FusedAllReduce>> fused;
  for (int kind = 0; kind < 2; ++kind) {
    float* const memory = memories[kind];
    const char* const name = kind == 0 ? "private" : "shared";
    std::fill(memory, memory + own.size(), 0.0F);
    const std::size_t one = ways.size();
    ways.push_back({.name = "one",
                    .memory = name,
                    .step = [&world, memory, tensors,
                             count] { world.allReduce(memory, memory, tensors * count, Type::kFloat); },
                    .compared_with = one});
    ways.push_back(
        {.name = "async",
         .memory = name,
         .step = [&members, memory, tensors,
                  count] { members.allReduce("one", memory, memory, tensors * count, Type::kFloat).wait(); },
         .compared_with = one});
    ways.push_back({.name = "single",
                    .memory = name,
                    .step =
                        [&world, memory, tensors, count] {
                          for (std::size_t i = 0; i < tensors; ++i) {
                            float* const tensor = memory + i * (count + kGap);
                            world.allReduce(tensor, tensor, count, Type::kFloat);
                          }
                        },
                    .compared_with = one});
    for (const std::size_t bucket_bytes : buckets) {
      for (const std::size_t gap : {kGap, std::size_t{0}}) {
        fused.push_back(std::make_unique<FusedAllReduce>(
            context, members, "fused " + std::to_string(fused.size()), tensorsIn(memory, tensors, count, gap),
            popdist::FusionOptions{.bucket_bytes = bucket_bytes}));
        ways.push_back({.name = gap > 0 ? "fused" : "fused in one piece",
                        .memory = name,
                        .bucket_bytes = bucket_bytes,
                        .step = [it = fused.back().get()] { it->reduce(); },
                        .compared_with = one});
      }
    }
  }
  measure(ways);
  if (context.instanceIndex() == 0) report(ways, tensors, bytes);
  return 0;
}
