// SPDX-License-Identifier: Apache-2.0
// Calls by name, and the Pod.
#include <array>
#include <chrono>
#include <optional>

#include "popdist/async.hpp"
#include "popdist/fused.hpp"
#include "popdist/pod.hpp"
#include "tests/differ/row.h"

namespace popdist::testing {
namespace {

struct ByName {
  explicit ByName(Context& job) : context(job), calls(job.createCommunicator({0, 1})) {}

  Pending allReduce(const std::string& name, std::size_t count = 5, Operator op = Operator::kSum,
                    AsyncCommunicator::Timeout timeout = {}) {
    return calls.allReduce(name, in.data(), out.data(), count, Type::kFloat, op, timeout);
  }

  Context& context;
  std::array<float, 64> in{};
  std::array<float, 64> out{};
  AsyncCommunicator calls;
};

Rows callsByName() {
  return {
      {"AsyncCommunicator.allReduce",
       "count",
       "5",
       "6",
       {"5 float", "6 float"},
       on<ByName>([](ByName& b, bool differs) { b.allReduce("a", differs ? 6 : 5).wait(); })},
      {"AsyncCommunicator.allReduce",
       "op",
       "sum",
       "max",
       {"sum of", "max of"},
       on<ByName>([](ByName& b, bool differs) {
         b.allReduce("a", 5, differs ? Operator::kMax : Operator::kSum).wait();
       })},
      {"AsyncCommunicator.allReduce",
       "the call of this name",
       "allReduce",
       "broadcast",
       {"allReduce", "broadcast"},
       on<ByName>([](ByName& b, bool differs) {
         const Pending pending =
             differs ? b.calls.broadcast("a", b.out.data(), 5, Type::kFloat, 0) : b.allReduce("a");
         pending.wait();
       })},
      {"AsyncCommunicator.broadcast",
       "root",
       "0",
       "1",
       {"root 0", "root 1"},
       on<ByName>([](ByName& b, bool differs) {
         b.calls.broadcast("a", b.out.data(), 5, Type::kFloat, differs ? 1 : 0).wait();
       })},
      {"AsyncCommunicator.allReduce",
       "order of two calls",
       "a, b",
       "b, a",
       {},
       on<ByName>([](ByName& b, bool differs) {
         const Pending first = b.allReduce(differs ? "b" : "a");
         const Pending second = b.allReduce(differs ? "a" : "b");
         first.wait();
         second.wait();
       })},
  };
}

Rows groupsOfCallsByName() {
  return {
      {"AsyncCommunicator.allReduce",
       "name",
       "a",
       "b",
       {"'a'", "'b'"},
       on<ByName>([](ByName& b, bool differs) {
         b.allReduce(differs ? "b" : "a", 5, Operator::kSum, std::chrono::seconds(1)).wait();
       }),
       Heard::kAtDeadline},
      {"AsyncCommunicator.allReduce", "timeout", "none", "10 s", {}, on<ByName>([](ByName& b, bool differs) {
         b.allReduce("a", 5, Operator::kSum,
                     differs ? AsyncCommunicator::Timeout(std::chrono::seconds(10)) : std::nullopt)
             .wait();
       })},
      {"FusedAllReduce",
       "count of a tensor",
       "5",
       "6",
       {"5 float", "6 float"},
       on<ByName>([](ByName& b, bool differs) {
         FusedAllReduce fused(b.context, b.calls, "gradients",
                              {{"w", b.out.data(), differs ? 6U : 5U, Type::kFloat}});
         fused.reduce();
       })},
      {"FusedAllReduce",
       "FusionOptions::op",
       "sum",
       "mean",
       {"sum of", "mean of"},
       on<ByName>([](ByName& b, bool differs) {
         FusedAllReduce fused(b.context, b.calls, "gradients", {{"w", b.out.data(), 5, Type::kFloat}},
                              {.op = differs ? Operator::kMean : Operator::kSum});
         fused.reduce();
       })},
  };
}

struct OnPod {
  explicit OnPod(Context& context) : pod(context) {}

  Pod pod;
  std::array<float, 64> data{};
  std::array<void*, 1> tensors{data.data()};
};

Rows pods() {
  constexpr auto kNext = Heard::kInNextCall;
  return {
      {"Pod.allReduceSum",
       "count",
       "5",
       "6",
       {"5 float", "6 float"},
       on<OnPod>(
           [](OnPod& p, bool differs) { p.pod.allReduceSum(p.tensors, differs ? 6 : 5, Type::kFloat); }),
       kNext},
      {"Pod.allReduceSum",
       "type",
       "float",
       "int32",
       {"5 float", "5 int32"},
       on<OnPod>([](OnPod& p, bool differs) {
         p.pod.allReduceSum(p.tensors, 5, differs ? Type::kInt32 : Type::kFloat);
       }),
       kNext},
      {"Pod.allReduceSum",
       "the call",
       "allReduceSum",
       "reduceScatterSum",
       {"8 float", "reduceScatter"},
       on<OnPod>([](OnPod& p, bool differs) {
         const std::array<Pod::Part, 2> parts{Pod::Part{0, 4}, Pod::Part{4, 4}};
         if (differs)
           p.pod.reduceScatterSum(p.tensors, 8, Type::kFloat, parts, 2);
         else
           p.pod.allReduceSum(p.tensors, 8, Type::kFloat);
       }),
       kNext},
      {"Pod.reduceScatterSum",
       "parts",
       "{0, 4}, {4, 4}",
       "{0, 3}, {3, 5}",
       {"per-rank counts"},
       on<OnPod>([](OnPod& p, bool differs) {
         const std::size_t first = differs ? 3 : 4;
         const std::array<Pod::Part, 2> parts{Pod::Part{0, first}, Pod::Part{first, 8 - first}};
         p.pod.reduceScatterSum(p.tensors, 8, Type::kFloat, parts, 2);
       }),
       kNext},
  };
}

}  // namespace

Rows byNameRows() {
  return joined({callsByName(), groupsOfCallsByName(), pods()});
}

}  // namespace popdist::testing
