// SPDX-License-Identifier: Apache-2.0
// Communicators, calls by name, and the Pod.
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "popdist/async.hpp"
#include "popdist/fused.hpp"
#include "popdist/pod.hpp"
#include "tests/differ/row.h"

namespace popdist::testing {
namespace {

constexpr std::size_t kCount = 64;  // of the longest buffer

struct Buffers {
  std::array<float, kCount> in{};
  std::array<float, kCount> out{};
};

using OnWorld = std::function<void(Communicator&, Buffers&, bool differs)>;

Row world(std::string call, std::string argument, std::string others, std::string one,
          std::vector<std::string> named, const OnWorld& body, bool later = false) {
  return {.call = "Communicator." + std::move(call),
          .argument = std::move(argument),
          .others = std::move(others),
          .one = std::move(one),
          .later = later,
          .named = std::move(named),
          .run =
              [body, later](Context& context, bool differs) {
                Buffers buffers;
                if (later) body(context.world(), buffers, false);
                body(context.world(), buffers, differs);
              },
          .by_messages = false};
}

Rows reductions() {
  return {
      world("allReduce", "count", "5", "6", {"5 float", "6 float"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.allReduce(b.in.data(), b.out.data(), differs ? 6 : 5, Type::kFloat);
            }),
      world(
          "allReduce", "count", "5", "6", {"5 float", "6 float"},
          [](Communicator& c, Buffers& b, bool differs) {
            c.allReduce(b.in.data(), b.out.data(), differs ? 6 : 5, Type::kFloat);
          },
          true),
      world("allReduce", "type", "float", "int32", {"5 float", "5 int32"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.allReduce(b.in.data(), b.out.data(), 5, differs ? Type::kInt32 : Type::kFloat);
            }),
      world(
          "allReduce", "op", "sum", "max", {"sum of", "max of"},
          [](Communicator& c, Buffers& b, bool differs) {
            c.allReduce(b.in.data(), b.out.data(), 5, Type::kFloat,
                        differs ? Operator::kMax : Operator::kSum);
          },
          true),
      world(
          "allReduce", "the call", "allReduce", "broadcast",
          {"allReduce (sum of 5 float)", "broadcast (5 float"},
          [](Communicator& c, Buffers& b, bool differs) {
            if (differs)
              c.broadcast(b.out.data(), 5, Type::kFloat, 0);
            else
              c.allReduce(b.in.data(), b.out.data(), 5, Type::kFloat);
          },
          true),
      world("allReduce", "CallOptions::tensor", "\"a\"", "\"b\"", {},
            [](Communicator& c, Buffers& b, bool differs) {
              c.allReduce(b.in.data(), b.out.data(), 5, Type::kFloat, Operator::kSum,
                          {.tensor = differs ? "b" : "a"});
            }),
      world("allReduce", "CallOptions::timeout", "none", "10 s", {},
            [](Communicator& c, Buffers& b, bool differs) {
              CallOptions options;
              if (differs) options.timeout = std::chrono::seconds(10);
              c.allReduce(b.in.data(), b.out.data(), 5, Type::kFloat, Operator::kSum, options);
            }),
      world("reduceScatter", "count", "5", "6", {"5 float", "6 float"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.reduceScatter(b.in.data(), b.out.data(), differs ? 6 : 5, Type::kFloat);
            }),
      world("reduce", "root", "0", "1", {"root 0", "root 1"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.reduce(b.in.data(), b.out.data(), 5, Type::kFloat, Operator::kSum, differs ? 1 : 0);
            }),
  };
}

Rows moves() {
  return {
      world("allGather", "count", "5", "6", {"5 float", "6 float"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.allGather(b.in.data(), b.out.data(), differs ? 6 : 5, Type::kFloat);
            }),
      world("allGather", "counts", "{1, 2}", "{2, 2}", {"per-rank counts"},
            [](Communicator& c, Buffers& b, bool differs) {
              const std::array<std::size_t, 2> counts{differs ? 2U : 1U, 2U};
              c.allGather(b.in.data(), b.out.data(), counts, Type::kFloat);
            }),
      world("broadcast", "root", "0", "1", {"root 0", "root 1"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.broadcast(b.out.data(), 5, Type::kFloat, differs ? 1 : 0);
            }),
      world("broadcast", "count", "5", "6", {"5 float", "6 float"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.broadcast(b.out.data(), differs ? 6 : 5, Type::kFloat, 0);
            }),
      world("gather", "root", "0", "1", {"root 0", "root 1"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.gather(b.in.data(), b.out.data(), 5, Type::kFloat, differs ? 1 : 0);
            }),
      world("scatter", "root", "0", "1", {"root 0", "root 1"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.scatter(b.in.data(), b.out.data(), 5, Type::kFloat, differs ? 1 : 0);
            }),
      world("allToAll", "count", "5", "6", {"5 float", "6 float"},
            [](Communicator& c, Buffers& b, bool differs) {
              c.allToAll(b.in.data(), b.out.data(), differs ? 6 : 5, Type::kFloat);
            }),
      world("allToAll", "send_counts", "{1, 1}", "{2, 2}", {"sends 2 elements", "expects 1"},
            [](Communicator& c, Buffers& b, bool differs) {
              const std::size_t sent = differs ? 2 : 1;
              // To itself as many as it expects of itself.
              const std::array<std::size_t, 2> send{c.rank() == 0 ? 1 : sent, c.rank() == 0 ? sent : 1};
              const std::array<std::size_t, 2> receive{1, 1};
              c.allToAll(b.in.data(), send, b.out.data(), receive, Type::kFloat);
            }),
      world("sendRecv", "send_count", "5", "6", {"sends 6 elements", "expects 5"},
            [](Communicator& c, Buffers& b, bool differs) {
              const int other = 1 - c.rank();
              c.sendRecv(b.in.data(), differs ? 6 : 5, other, b.out.data(), 5, other, Type::kFloat);
            }),
      world("barrier", "the call", "barrier", "allReduce", {"barrier", "allReduce (sum of 5 float)"},
            [](Communicator& c, Buffers& b, bool differs) {
              if (differs)
                c.allReduce(b.in.data(), b.out.data(), 5, Type::kFloat);
              else
                c.barrier();
            }),
  };
}

Rows groups() {
  return {
      {.call = "Context.createCommunicator",
       .argument = "participants",
       .others = "{0, 1}",
       .one = "{0}",
       .named = {"communicator"},
       .run =
           [](Context& context, bool differs) {
             const std::set<unsigned> all{0, 1};
             context.createCommunicator(differs ? std::set<unsigned>{0} : all);
           }},
      {.call = "Context.createCommunicator",
       .argument = "the call",
       .others = "createCommunicator",
       .one = "fence",
       .later = true,
       .named = {"communicator", "fence"},
       .run =
           [](Context& context, bool differs) {
             context.createCommunicator({0, 1});
             if (differs)
               context.fence();
             else
               context.createCommunicator({0, 1});
           }},
  };
}

Row byName(std::string argument, std::string others, std::string one, std::vector<std::string> named,
           const std::function<Pending(AsyncCommunicator&, Buffers&, bool)>& issue) {
  return {.call = "AsyncCommunicator.allReduce",
          .argument = std::move(argument),
          .others = std::move(others),
          .one = std::move(one),
          .later = true,
          .named = std::move(named),
          .run = [issue](Context& context, bool differs) {
            AsyncCommunicator by_name(context.createCommunicator({0, 1}));
            Buffers buffers;
            issue(by_name, buffers, false).wait();
            issue(by_name, buffers, differs).wait();
          }};
}

Rows asynchronous() {
  return {
      byName("count", "5", "6", {"5 float", "6 float"},
             [](AsyncCommunicator& c, Buffers& b, bool differs) {
               return c.allReduce("a", b.in.data(), b.out.data(), differs ? 6 : 5, Type::kFloat);
             }),
      byName("the call of this name", "allReduce", "broadcast", {"allReduce", "broadcast"},
             [](AsyncCommunicator& c, Buffers& b, bool differs) {
               return differs ? c.broadcast("a", b.out.data(), 5, Type::kFloat, 0)
                              : c.allReduce("a", b.in.data(), b.out.data(), 5, Type::kFloat);
             }),
      byName("timeout", "none", "10 s", {},
             [](AsyncCommunicator& c, Buffers& b, bool differs) {
               return c.allReduce(
                   "a", b.in.data(), b.out.data(), 5, Type::kFloat, Operator::kSum,
                   differs ? AsyncCommunicator::Timeout(std::chrono::seconds(10)) : std::nullopt);
             }),
      {.call = "FusedAllReduce",
       .argument = "count of a tensor",
       .others = "5",
       .one = "6",
       .named = {"5 float", "6 float"},
       .run =
           [](Context& context, bool differs) {
             AsyncCommunicator by_name(context.createCommunicator({0, 1}));
             Buffers buffers;
             FusedAllReduce fused(context, by_name, "gradients",
                                  {{"w", buffers.out.data(), differs ? 6U : 5U, Type::kFloat}});
             fused.reduce();
           }},
  };
}

Row pod(std::string call, std::string argument, std::string others, std::string one,
        std::vector<std::string> named, const std::function<void(Pod&, float*, bool)>& body) {
  return {.call = "Pod." + std::move(call),
          .argument = std::move(argument),
          .others = std::move(others),
          .one = std::move(one),
          .later = true,
          .named = std::move(named),
          .run =
              [body](Context& context, bool differs) {
                Pod pod(context);
                Buffers buffers;
                body(pod, buffers.out.data(), false);
                body(pod, buffers.out.data(), differs);
              },
          .by_messages = false};
}

Rows pods() {
  return {
      pod("allReduceSum", "count", "5", "6", {"5 float", "6 float"},
          [](Pod& of, float* data, bool differs) {
            std::array<void*, 1> tensors{data};
            of.allReduceSum(tensors, differs ? 6 : 5, Type::kFloat);
          }),
      pod("allReduceSum", "type", "float", "int32", {"5 float", "5 int32"},
          [](Pod& of, float* data, bool differs) {
            std::array<void*, 1> tensors{data};
            of.allReduceSum(tensors, 5, differs ? Type::kInt32 : Type::kFloat);
          }),
      pod("reduceScatterSum", "parts", "{0, 4}, {4, 4}", "{0, 3}, {3, 5}", {"per-rank counts"},
          [](Pod& of, float* data, bool differs) {
            std::array<void*, 1> tensors{data};
            const std::size_t first = differs ? 3 : 4;
            const std::array<Pod::Part, 2> parts{Pod::Part{0, first}, Pod::Part{first, 8 - first}};
            of.reduceScatterSum(tensors, 8, Type::kFloat, parts, 2);
          }),
  };
}

}  // namespace

Rows collectiveRows() {
  Rows all;
  for (const Rows& rows : {reductions(), moves(), groups(), asynchronous(), pods()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

}  // namespace popdist::testing
