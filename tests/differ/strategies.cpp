// SPDX-License-Identifier: Apache-2.0
// Strategies, batch norm, variables and PopART's sessions.
#include <array>
#include <memory>
#include <vector>

#include "popdist/batch_norm.hpp"
#include "popdist/popart_horovod.hpp"
#include "popdist/trainer.hpp"
#include "popdist/variables.hpp"
#include "tests/differ/row.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::testing {
namespace {

using namespace popdist::train;

Rows strategies() {
  return {
      {"IpuMultiWorkerStrategy",
       "variables_on_host",
       "false",
       "true",
       {"the strategy's options"},
       onContext([](Context& context, bool differs) {
         const IpuMultiWorkerStrategy made(context, {.variables_on_host = differs});
       })},
      {"IpuHorovodStrategy",
       "FusionOptions::bucket_bytes",
       "4 MiB",
       "1 MiB",
       {"the strategy's options", "1048576"},
       onContext([](Context& context, bool differs) {
         FusionOptions fusion;
         if (differs) fusion.bucket_bytes = 1 << 20;
         const IpuHorovodStrategy made(context, fusion);
       })},
      {"IpuHorovodStrategy",
       "FusionOptions::op",
       "sum",
       "mean",
       {"the strategy's options"},
       onContext([](Context& context, bool differs) {
         FusionOptions fusion;
         if (differs) fusion.op = Operator::kMean;
         const IpuHorovodStrategy made(context, fusion);
       })},
      {"HpuStrategy",
       "bfloat16_conversion",
       "false",
       "true",
       {"bfloat16_conversion"},
       onContext([](Context& context, bool differs) {
         const HpuStrategy made(context, {.bfloat16_conversion = differs});
       })},
      {"Strategy",
       "kind",
       "IpuHorovodStrategy",
       "IpuMultiWorkerStrategy",
       {"'horovod'", "'multiworker'"},
       onContext([](Context& context, bool differs) {
         if (differs)
           const IpuMultiWorkerStrategy made(context);
         else
           const IpuHorovodStrategy made(context);
       })},
  };
}

struct WithStrategy {
  explicit WithStrategy(Context& context) : strategy(context) {}
  IpuHorovodStrategy strategy;
};

struct OnHpu {
  explicit OnHpu(Context& context) : strategy(context) {}
  HpuStrategy strategy;
  std::array<float, 64> in{};
  std::array<float, 64> out{};
};

Rows callsOfStrategies() {
  constexpr auto kNext = Heard::kInNextCall;
  return {
      {"Strategy.reduce",
       "count",
       "2",
       "3",
       {"2 double", "3 double"},
       on<WithStrategy>([](WithStrategy& w, bool differs) {
         std::vector<double> values(differs ? 3 : 2);
         w.strategy.reduce(values);
       }),
       kNext},
      {"Strategy.reduce",
       "op",
       "sum",
       "max",
       {"sum of", "max of"},
       on<WithStrategy>([](WithStrategy& w, bool differs) {
         std::vector<double> values(2);
         w.strategy.reduce(values, differs ? Operator::kMax : Operator::kSum);
       }),
       kNext},
      {"Strategy.broadcast",
       "elements",
       "3",
       "4",
       {"the tensors", "w: float [3]", "w: float [4]"},
       on<WithStrategy>([](WithStrategy& w, bool differs) {
         std::vector<FlatTensors> values;
         values.emplace_back(w.strategy.context(), Spec{{"w", Type::kFloat, {differs ? 4U : 3U}}});
         w.strategy.broadcast(values);
       }),
       kNext},
      {"Strategy.reductionOf",
       "elements of a gradient",
       "3",
       "4",
       {"3 float", "4 float"},
       on<WithStrategy>([](WithStrategy& w, bool differs) {
         std::vector<FlatTensors> gradients;
         gradients.emplace_back(w.strategy.context(), Spec{{"w", Type::kFloat, {differs ? 4U : 3U}}});
         const auto reduction = w.strategy.reductionOf(gradients);
         reduction->ready(0, 0);
         reduction->wait();
       })},
      {"HpuStrategy.reduce",
       "count",
       "5",
       "6",
       {"5 float", "6 float"},
       on<OnHpu>(
           [](OnHpu& h, bool differs) { h.strategy.reduce(h.out.data(), differs ? 6 : 5, Type::kFloat); }),
       kNext},
      {"HpuStrategy.allGather",
       "the call",
       "allGather",
       "reduce",
       {"allGather", "allReduce"},
       on<OnHpu>([](OnHpu& h, bool differs) {
         if (differs)
           h.strategy.reduce(h.out.data(), 5, Type::kFloat);
         else
           h.strategy.allGather(h.in.data(), h.out.data(), 5, Type::kFloat);
       }),
       kNext},
  };
}

template <typename Change>
std::function<Call(Context&)> batchNorm(Change change) {
  return onContext([change](Context& context, bool differs) {
    BatchNormOptions options{.channels = 3, .span = 2};
    if (differs) change(options);
    const BatchNorm made(context, options);
  });
}

struct Layer {
  explicit Layer(Context& context) : layer(context, {.channels = 1, .span = 2}) {}

  void forward() {
    const BatchNormForward replica{.input = in, .gamma = one, .beta = one, .output = out, .saved = &saved};
    layer.forward(std::span(&replica, 1));
  }
  void backward() {
    const BatchNormBackward replica{.input = in,
                                    .gamma = one,
                                    .d_output = out,
                                    .saved = &saved,
                                    .d_input = d_input,
                                    .d_gamma = d_gamma,
                                    .d_beta = d_beta};
    layer.backward(std::span(&replica, 1));
  }

  BatchNorm layer;
  BatchNormSaved saved;
  std::array<float, 4> in{1, 2, 3, 4};
  std::array<float, 4> out{}, d_input{};
  std::array<float, 1> one{1}, d_gamma{}, d_beta{};
};

Rows layers() {
  return {
      {"BatchNorm", "channels", "3", "4", {"channels", "'3'", "'4'"}, batchNorm([](BatchNormOptions& to) {
         to.channels = 4;
       })},
      {"BatchNorm", "channels", "3", "0", {"channels is 0"}, batchNorm([](BatchNormOptions& to) {
         to.channels = 0;
       })},
      {"BatchNorm", "span", "2", "1", {"span", "'2'", "'1'"}, batchNorm([](BatchNormOptions& to) {
         to.span = 1;
       })},
      {"BatchNorm", "epsilon", "1e-5", "1e-3", {"epsilon"}, batchNorm([](BatchNormOptions& to) {
         to.epsilon = 1e-3F;
       })},
      {"BatchNorm", "momentum", "0.1", "0.2", {"momentum"}, batchNorm([](BatchNormOptions& to) {
         to.momentum = 0.2F;
       })},
      {"BatchNorm.forward",
       "the call",
       "forward",
       "averageRunning",
       {"'BatchNorm forwar", "'BatchNorm averag"},
       on<Layer>([](Layer& l, bool differs) {
         if (differs)
           l.layer.averageRunning();
         else
           l.forward();
       })},
      {"BatchNorm.backward",
       "the call",
       "backward",
       "forward",
       {"'BatchNorm backwa", "'BatchNorm forwar"},
       on<Layer>([](Layer& l, bool differs) {
         l.forward();
         if (differs)
           l.forward();
         else
           l.backward();
       })},
  };
}

struct OfTwo {
  explicit OfTwo(Context& context)
      : variables(context, {{.name = "a"}, {.name = "b"}, {.name = "w", .sync = Sync::kOnWrite}}) {}
  Variables variables;
};

Row specs(std::string argument, std::string others, std::string one, const VariableSpec& other) {
  return {"Variables",
          std::move(argument),
          std::move(others),
          std::move(one),
          {"the variables"},
          onContext([other](Context& context, bool differs) {
            const Variables made(context, {differs ? other : VariableSpec{.name = "a"}});
          })};
}

Rows variables() {
  return {
      specs("name", "a", "b", {.name = "b"}),
      specs("shape", "{}", "{2}", {.name = "a", .shape = {2}}),
      specs("sync", "on read", "on write", {.name = "a", .sync = Sync::kOnWrite}),
      specs("aggregation", "sum", "mean", {.name = "a", .aggregation = Aggregation::kMean}),
      specs("initial", "0", "1", {.name = "a", .initial = 1}),
      {"Variables.read",
       "variable",
       "a",
       "b",
       {"'read of the variable a'", "'read of the variable b'"},
       on<OfTwo>([](OfTwo& o, bool differs) { o.variables.read(differs ? 1 : 0); })},
      {"Variables.read",
       "the call",
       "read",
       "write",
       {"'read of the variable a'", "'write of the variable w'"},
       on<OfTwo>([](OfTwo& o, bool differs) {
         const std::array<double, 1> values{1};
         if (differs)
           o.variables.write(2, values);
         else
           o.variables.read(0);
       })},
      {"Variables.pieces",
       "the call",
       "pieces",
       "read",
       {"'checkpoint of the variable a'", "'read of the variable a'"},
       on<OfTwo>([](OfTwo& o, bool differs) {
         if (differs)
           o.variables.read(0);
         else
           o.variables.pieces();
       })},
  };
}

popart::Model model() {
  popart::Model model;
  model.weights.add("w", {1});
  model.values = {{"number", Type::kFloat, {1}}};
  model.stages = {
      {.name = "number", .forward = [](const popart::Batch&) {}, .backward = [](const popart::Batch&) {}}};
  return model;
}

struct Prepared {
  explicit Prepared(Context& context) : session(context, model(), {2, {}}, options) {
    hvd::DistributedOptimizer(sgd(0.1), session, options).insertHostAllReduce();
  }
  const popart::SessionOptions options{.host_all_reduce = true};
  popart::Session session;
};

template <typename Change>
std::function<Call(Context&)> session(Change change) {
  return onContext([change](Context& context, bool differs) {
    popart::SessionOptions options{.host_all_reduce = true};
    int batches = 2;
    if (differs) change(options, batches);
    popart::Session of(context, model(), {batches, {}}, options);
    hvd::DistributedOptimizer(sgd(0.1), of, options).insertHostAllReduce();
  });
}

Rows sessions() {
  return {
      {"hvd::DistributedOptimizer.insertHostAllReduce",
       "SessionOptions::host_all_reduce_remote_buffer",
       "false",
       "true",
       {"SessionOptions", "host_all_reduce_remote_buffer"},
       session([](popart::SessionOptions& to, int&) { to.host_all_reduce_remote_buffer = true; })},
      {"popart::Session",
       "DataFlow::batches_per_step",
       "2",
       "3",
       {"batches_per_step", "'2'", "'3'"},
       session([](popart::SessionOptions&, int& batches) { batches = 3; })},
      {"hvd::broadcastWeights",
       "root_rank",
       "0",
       "1",
       {"root_rank", "'0'", "'1'"},
       on<Prepared>([](Prepared& p, bool differs) { hvd::broadcastWeights(p.session, differs ? 1 : 0); })},
      {"hvd::broadcastWeights",
       "root_rank",
       "0",
       "7",
       {"root_rank is 7"},
       on<Prepared>([](Prepared& p, bool differs) { hvd::broadcastWeights(p.session, differs ? 7 : 0); })},
      {"popart::Session.run",
       "the call before",
       "broadcastWeights",
       "none",
       {"broadcastWeights"},
       on<Prepared>([](Prepared& p, bool differs) {
         if (!differs) hvd::broadcastWeights(p.session);
         io::Infeed infeed(regression::samples());
         p.session.run(infeed);
       })},
  };
}

}  // namespace

Rows strategyRows() {
  return joined({strategies(), callsOfStrategies(), layers(), variables(), sessions()});
}

}  // namespace popdist::testing
