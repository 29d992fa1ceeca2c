// SPDX-License-Identifier: Apache-2.0
// Calls on a communicator.
#include <array>
#include <chrono>
#include <set>

#include "tests/differ/row.h"

namespace popdist::testing {
namespace {

/// A communicator, and buffers for its calls.
struct World {
  explicit World(Context& context) : all(context.world()) {}

  void allReduce(std::size_t count, Type type = Type::kFloat, Operator op = Operator::kSum,
                 const CallOptions& options = {}) {
    all.allReduce(in.data(), out.data(), count, type, op, options);
  }

  Communicator& all;
  std::array<float, 64> in{};
  std::array<float, 64> out{};
};

constexpr auto kInNext = Heard::kInNextCall;

Rows allReduces() {
  return {
      {"Communicator.allReduce",
       "count",
       "5",
       "6",
       {"5 float", "6 float"},
       on<World>([](World& w, bool differs) { w.allReduce(differs ? 6 : 5); }),
       kInNext},
      {"Communicator.allReduce",
       "type",
       "float",
       "int32",
       {"5 float", "5 int32"},
       on<World>([](World& w, bool differs) { w.allReduce(5, differs ? Type::kInt32 : Type::kFloat); }),
       kInNext},
      {"Communicator.allReduce",
       "op",
       "sum",
       "max",
       {"sum of", "max of"},
       on<World>([](World& w, bool differs) {
         w.allReduce(5, Type::kFloat, differs ? Operator::kMax : Operator::kSum);
       }),
       kInNext},
      {"Communicator.allReduce",
       "CallOptions::tensor",
       "\"a\"",
       "\"b\"",
       {},
       on<World>([](World& w, bool differs) {
         w.allReduce(5, Type::kFloat, Operator::kSum, {.tensor = differs ? "b" : "a"});
       })},
      {"Communicator.allReduce",
       "CallOptions::timeout",
       "none",
       "10 s",
       {},
       on<World>([](World& w, bool differs) {
         CallOptions options;
         if (differs) options.timeout = std::chrono::seconds(10);
         w.allReduce(5, Type::kFloat, Operator::kSum, options);
       })},
  };
}

Rows otherReductions() {
  return {
      {"Communicator.reduceScatter",
       "count",
       "5",
       "6",
       {"5 float", "6 float"},
       on<World>([](World& w, bool differs) {
         w.all.reduceScatter(w.in.data(), w.out.data(), differs ? 6 : 5, Type::kFloat);
       }),
       kInNext},
      {"Communicator.reduceScatter",
       "op",
       "sum",
       "min",
       {"sum of", "min of"},
       on<World>([](World& w, bool differs) {
         w.all.reduceScatter(w.in.data(), w.out.data(), 5, Type::kFloat,
                             differs ? Operator::kMin : Operator::kSum);
       }),
       kInNext},
      {"Communicator.reduce",
       "root",
       "0",
       "1",
       {"root 0", "root 1"},
       on<World>([](World& w, bool differs) {
         w.all.reduce(w.in.data(), w.out.data(), 5, Type::kFloat, Operator::kSum, differs ? 1 : 0);
       }),
       kInNext},
      {"Communicator.reduce",
       "type",
       "float",
       "double",
       {"5 float", "5 double"},
       on<World>([](World& w, bool differs) {
         w.all.reduce(w.in.data(), w.out.data(), 5, differs ? Type::kDouble : Type::kFloat, Operator::kSum,
                      0);
       }),
       kInNext},
  };
}

Rows gathersAndBroadcasts() {
  return {
      {"Communicator.allGather",
       "count",
       "5",
       "6",
       {"5 float", "6 float"},
       on<World>([](World& w, bool differs) {
         w.all.allGather(w.in.data(), w.out.data(), differs ? 6 : 5, Type::kFloat);
       }),
       kInNext},
      {"Communicator.allGather",
       "counts",
       "{1, 2}",
       "{2, 2}",
       {"per-rank counts"},
       on<World>([](World& w, bool differs) {
         const std::array<std::size_t, 2> counts{differs ? 2U : 1U, 2U};
         w.all.allGather(w.in.data(), w.out.data(), counts, Type::kFloat);
       }),
       kInNext},
      {"Communicator.broadcast",
       "root",
       "0",
       "1",
       {"root 0", "root 1"},
       on<World>(
           [](World& w, bool differs) { w.all.broadcast(w.out.data(), 5, Type::kFloat, differs ? 1 : 0); }),
       kInNext},
      {"Communicator.broadcast",
       "count",
       "5",
       "6",
       {"5 float", "6 float"},
       on<World>(
           [](World& w, bool differs) { w.all.broadcast(w.out.data(), differs ? 6 : 5, Type::kFloat, 0); }),
       kInNext},
      {"Communicator.gather",
       "root",
       "0",
       "1",
       {"root 0", "root 1"},
       on<World>([](World& w, bool differs) {
         w.all.gather(w.in.data(), w.out.data(), 5, Type::kFloat, differs ? 1 : 0);
       }),
       kInNext},
  };
}

Rows exchanges() {
  return {
      {"Communicator.scatter",
       "root",
       "0",
       "1",
       {"root 0", "root 1"},
       on<World>([](World& w, bool differs) {
         w.all.scatter(w.in.data(), w.out.data(), 5, Type::kFloat, differs ? 1 : 0);
       }),
       kInNext},
      {"Communicator.allToAll",
       "count",
       "5",
       "6",
       {"5 float", "6 float"},
       on<World>([](World& w, bool differs) {
         w.all.allToAll(w.in.data(), w.out.data(), differs ? 6 : 5, Type::kFloat);
       }),
       kInNext},
      {"Communicator.allToAll",
       "send_counts",
       "{1, 1}",
       "{2, 2}",
       {"sends 2 elements", "expects 1"},
       on<World>([](World& w, bool differs) {
         const std::size_t sent = differs ? 2 : 1;
         // To itself as many as it expects of itself.
         const std::array<std::size_t, 2> send{w.all.rank() == 0 ? 1 : sent, w.all.rank() == 0 ? sent : 1};
         const std::array<std::size_t, 2> receive{1, 1};
         w.all.allToAll(w.in.data(), send, w.out.data(), receive, Type::kFloat);
       }),
       kInNext},
      {"Communicator.sendRecv",
       "send_count",
       "5",
       "6",
       {"sends 6 elements", "expects 5"},
       on<World>([](World& w, bool differs) {
         const int other = 1 - w.all.rank();
         w.all.sendRecv(w.in.data(), differs ? 6 : 5, other, w.out.data(), 5, other, Type::kFloat);
       }),
       kInNext},
  };
}

Rows orders() {
  return {
      {"Communicator.allReduce",
       "the call",
       "allReduce",
       "broadcast",
       {"allReduce (sum of 5 float)", "broadcast (5 float"},
       on<World>([](World& w, bool differs) {
         if (differs)
           w.all.broadcast(w.out.data(), 5, Type::kFloat, 0);
         else
           w.allReduce(5);
       }),
       kInNext},
      {"Communicator.barrier",
       "the call",
       "barrier",
       "allReduce",
       {"barrier", "allReduce (sum of 5 float)"},
       on<World>([](World& w, bool differs) {
         if (differs)
           w.allReduce(5);
         else
           w.all.barrier();
       }),
       kInNext},
      {"Communicator",
       "order of two calls",
       "allReduce, broadcast",
       "broadcast, allReduce",
       {"allReduce (sum of 5 float)", "broadcast (5 float"},
       on<World>([](World& w, bool differs) {
         if (differs) w.all.broadcast(w.out.data(), 5, Type::kFloat, 0);
         w.allReduce(5);
         if (!differs) w.all.broadcast(w.out.data(), 5, Type::kFloat, 0);
       }),
       kInNext},
      {"Communicator",
       "number of calls",
       "allReduce, barrier",
       "barrier",
       {"allReduce (sum of 5 float)", "barrier"},
       on<World>([](World& w, bool differs) {
         if (!differs) w.allReduce(5);
         w.all.barrier();
       }),
       kInNext},
  };
}

Rows groups() {
  return {
      {"Context.createCommunicator",
       "participants",
       "{0, 1}",
       "{0}",
       {"communicator"},
       onContext([](Context& context, bool differs) {
         const std::set<unsigned> all{0, 1};
         context.createCommunicator(differs ? std::set<unsigned>{0} : all);
       })},
      {"Context.createCommunicator",
       "the call",
       "createCommunicator",
       "fence",
       {"communicator", "fence"},
       onContext([](Context& context, bool differs) {
         if (differs)
           context.fence();
         else
           context.createCommunicator({0, 1});
       })},
  };
}

}  // namespace

Rows communicatorRows() {
  return joined({allReduces(), otherReductions(), gathersAndBroadcasts(), exchanges(), orders(), groups()});
}

}  // namespace popdist::testing
