// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/popdist_child_async.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <future>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "popdist/buffer.hpp"
#include "popdist/popdist.hpp"

namespace popdist::testing {
namespace {

int wrong_values = 0;

void expectAll(const std::string& what, const std::vector<std::int64_t>& values, std::int64_t expected) {
  for (const std::int64_t value : values) {
    if (value == expected || ++wrong_values > 3) continue;
    std::fprintf(stderr, "%s: %lld, not %lld\n", what.c_str(), static_cast<long long>(value),
                 static_cast<long long>(expected));
  }
}

std::int64_t me() {
  return getInstanceIndex();
}
std::int64_t sumOfInstances() {
  return getNumInstances() * (getNumInstances() - 1) / 2;
}

std::set<unsigned> everybody() {
  std::set<unsigned> all;
  for (int instance = 0; instance < getNumInstances(); ++instance)
    all.insert(static_cast<unsigned>(instance));
  return all;
}

// An order of its own for each instance.
std::vector<std::size_t> shuffled(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  pop::SplitMix64 random(static_cast<std::uint64_t>(me()));
  pop::shuffle(std::span(order), random);
  return order;
}

void checkNames(AsyncCommunicator& members) {
  std::vector<std::vector<std::int64_t>> data;
  for (const std::size_t count : {1U, 5U, 1000U, 100'000U, 17U}) data.emplace_back(count, me());
  std::vector<Pending> pending;
  for (const std::size_t i : shuffled(data.size())) {
    pending.push_back(members.allReduce("tensor " + std::to_string(i), data[i].data(), data[i].data(),
                                        data[i].size(), Type::kInt64));
  }
  for (const Pending& each : pending) each.wait();
  for (const auto& values : data) expectAll("allReduce by name", values, sumOfInstances());
}

// A thread for each call, as PopDist's users have it; they start in any order.
void checkTags() {
  std::vector<std::future<void>> calls;
  std::vector<std::vector<std::int64_t>> sums(6, std::vector<std::int64_t>(100, me()));
  std::vector<std::int64_t> from_last(1000, me());
  for (const std::size_t i : shuffled(sums.size())) {
    calls.push_back(std::async(std::launch::async, [&sums, i] {
      collectives::allReduceSum(sums[i].data(), sums[i].size(), Type::kInt64, "grad " + std::to_string(i));
    }));
  }
  calls.push_back(std::async(std::launch::async, [&from_last] {
    const auto last = static_cast<unsigned>(getNumInstances() - 1);
    collectives::broadcast(from_last.data(), from_last.size(), Type::kInt64, last, "weights");
  }));
  std::vector<std::int64_t> beside(10, me());
  collectives::allReduceSum(beside.data(), beside.size(), Type::kInt64);
  for (auto& call : calls) call.get();
  expectAll("allReduceSum beside tags", beside, sumOfInstances());
  for (const auto& values : sums) expectAll("allReduceSum with a tag", values, sumOfInstances());
  expectAll("broadcast with a tag", from_last, getNumInstances() - 1);
}

// The default communicator is what tags are of.
void checkTagsOfSome() {
  if (getNumInstances() < 2) return;
  registerCommunicator({0, 1});
  if (me() < 2) {
    std::vector<std::int64_t> data(3, me() + 1);
    collectives::allReduceSum(data.data(), data.size(), Type::kInt64, "of two");
    expectAll("allReduceSum with a tag, of two", data, 3);
    return;
  }
  try {
    std::int64_t value = 0;
    collectives::allReduceSum(&value, 1, Type::kInt64, "of two");
    ++wrong_values;
  } catch (const popdist_error& error) {
    if (error.code() != ErrorCode::kFailedPrecondition) throw;
  }
}

void checkFused(AsyncCommunicator& members) {
  constexpr std::size_t kTensors = 200;
  std::vector<std::vector<std::int64_t>> data(kTensors, std::vector<std::int64_t>(100));
  std::vector<FusedTensor> tensors;
  for (auto& values : data) tensors.push_back({"", values.data(), values.size(), Type::kInt64});
  FusedAllReduce fused(Context::fromEnvironment(), members, "gradients", tensors, {.bucket_bytes = 1 << 14});
  for (int step = 0; step < 3; ++step) {
    for (auto& values : data) std::fill(values.begin(), values.end(), me() + step);
    for (const std::size_t i : shuffled(kTensors)) fused.ready(i);
    fused.wait();
    for (const auto& values : data)
      expectAll("fused", values, sumOfInstances() + static_cast<std::int64_t>(step) * getNumInstances());
  }
}

}  // namespace

int checkAsynchronous() {
  AsyncCommunicator members(Context::fromEnvironment().createCommunicator(everybody()));
  for (int step = 0; step < 20; ++step) checkNames(members);
  checkFused(members);
  for (int step = 0; step < 5; ++step) checkTags();
  checkTagsOfSome();
  finalizeBackend();
  return wrong_values == 0 ? 0 : 1;
}

void asyncSumForever(std::size_t count, void (*ready)()) {
  AsyncCommunicator members(Context::fromEnvironment().createCommunicator(everybody()));
  std::vector<float> one(count);
  std::vector<float> other(count);
  for (bool first = true;; first = false) {
    const Pending pending = members.allReduce("one", one.data(), one.data(), count, Type::kFloat);
    members.allReduce("other", other.data(), other.data(), count, Type::kFloat).wait();
    pending.wait();
    if (first) ready();
  }
}

}  // namespace popdist::testing
