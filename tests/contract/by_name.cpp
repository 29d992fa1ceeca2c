// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/by_name.h"

#include <algorithm>
#include <future>
#include <numeric>
#include <span>
#include <vector>

#include "common/base/random.h"
#include "popdist/fused.hpp"
#include "tests/contract/run_case.h"

namespace popdist::contract {
namespace {

constexpr std::size_t kBesideEachOther = 6;
constexpr std::size_t kTensors = 40;

// An order of its own for each rank.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  pop::SplitMix64 random(seed);
  pop::shuffle(std::span(order), random);
  return order;
}

Case namedCase(std::uint64_t seed, int ranks, bool exact) {
  Case tested = randomCase(seed, ranks, 200'000 / static_cast<std::size_t>(ranks));
  tested.ragged = false;
  tested.exact = exact;
  if (!canBeNamed(tested)) tested.operation = Operation::kAllReduce;
  return tested;
}

std::string runTogether(Context& context, const Members& members, const std::vector<Case>& cases) {
  std::vector<std::future<std::string>> calls;
  const auto rank = static_cast<std::uint64_t>(members.rank);
  for (const std::size_t i : shuffled(cases.size(), cases.front().seed * 64 + rank)) {
    calls.push_back(std::async(std::launch::async, [&, &tested = cases[i]] {
      return runCase(context, members, tested, static_cast<Memory>(tested.seed % 3), tested.seed % 2 == 0);
    }));
  }
  std::string wrong;
  for (auto& call : calls) {
    std::string text = call.get();
    if (wrong.empty()) wrong = std::move(text);
  }
  return wrong;
}

std::vector<Case> tensorsOf(Operator op, std::uint64_t seed, bool exact) {
  std::vector<Case> tensors;
  pop::SplitMix64 random(seed * 11 + static_cast<std::uint64_t>(op));
  while (tensors.size() < kTensors) {
    const auto type = static_cast<Type>(random.below(13));
    if (!supports(op, type)) continue;
    tensors.push_back(
        {.type = type, .op = op, .count = random.below(1500), .seed = random.next(), .exact = exact});
  }
  return tensors;
}

// The same tensors in place, step after step.
std::string runSteps(Context& context, AsyncCommunicator& members, const std::vector<Case>& tensors,
                     const std::string& name) {
  std::vector<Bytes> data;
  std::vector<FusedTensor> fused_tensors;
  for (const Case& tensor : tensors) {
    data.emplace_back(tensor.count * sizeOf(tensor.type));
    fused_tensors.push_back({"", data.back().data(), tensor.count, tensor.type});
  }
  FusedAllReduce fused(context, members, name, fused_tensors,
                       {.bucket_bytes = std::size_t{16} << 10, .op = tensors.front().op});
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (const std::size_t i :
         shuffled(tensors.size(), step * 64 + static_cast<std::uint64_t>(members.rank()))) {
      const Bytes input = inputOf(tensors[i], members.rank(), members.size());
      std::copy(input.begin(), input.end(), data[i].begin());
      fused.ready(i);
    }
    fused.wait();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (data[i] != expectedOf(tensors[i], members.rank(), members.size()))
        return "rank " + std::to_string(members.rank()) + ": wrong result: fused " + nameOf(tensors[i]);
    }
  }
  return "";
}

}  // namespace

std::string runByName(Context& context, AsyncCommunicator& members, std::uint64_t seed, std::size_t calls,
                      bool exact) {
  const Members all = membersOf(members);
  for (std::uint64_t done = 0; done < calls; done += kBesideEachOther) {
    std::vector<Case> cases;
    for (std::uint64_t i = done; i < std::min<std::uint64_t>(calls, done + kBesideEachOther); ++i)
      cases.push_back(namedCase(seed + i, all.ranks, exact));
    std::string wrong = runTogether(context, all, cases);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string runFused(Context& context, AsyncCommunicator& members, std::uint64_t seed, bool exact) {
  for (int op = 0; op < 11; ++op) {
    std::string wrong = runSteps(context, members, tensorsOf(static_cast<Operator>(op), seed, exact),
                                 "fused " + std::to_string(op));
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace popdist::contract
