// SPDX-License-Identifier: Apache-2.0
// Strategies, trainers, batch norm, variables and PopART's sessions.
#include <memory>
#include <optional>

#include "popdist/batch_norm.hpp"
#include "popdist/denormals.hpp"
#include "popdist/popart_horovod.hpp"
#include "popdist/trainer.hpp"
#include "tests/differ/row.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::testing {
namespace {

using namespace popdist::train;

/// All that a program of training gives.
struct Given {
  std::string strategy = "popdist";
  Parameters parameters = regression::parameters();
  Optimizer optimizer = sgd(0.1);
  TrainerOptions options{.metrics = {"loss"}};
  std::uint64_t seed = 1;
};

Row trainer(std::string argument, std::string others, std::string one, std::vector<std::string> named,
            const std::function<void(Given&)>& change) {
  return {.call = "Trainer",
          .argument = std::move(argument),
          .others = std::move(others),
          .one = std::move(one),
          .named = std::move(named),
          .run = [change](Context& context, bool differs) {
            Given given;
            if (differs) change(given);
            const std::unique_ptr<Strategy> strategy = strategyNamed(given.strategy, context);
            Trainer made(
                *strategy, given.parameters, [](const MicroBatch&) {}, given.optimizer, given.options);
            made.initialise(given.seed);
          }};
}

Rows constructors() {
  return {
      trainer("strategy", "popdist", "horovod", {"strategy", "'popdist'", "'horovod'"},
              [](Given& to) { to.strategy = "horovod"; }),
      trainer("strategy", "popdist", "none of the names", {"there is no strategy"},
              [](Given& to) { to.strategy = "popist"; }),
      trainer("optimizer", "sgd(0.1)", "sgd(0.2)", {"optimizer", "0.1", "0.2"},
              [](Given& to) { to.optimizer = sgd(0.2); }),
      trainer("parameters", "w {3}, b {1}", "b {1} more", {"parameters"},
              [](Given& to) { to.parameters.add("c", {1}); }),
      trainer("accumulation.count", "1", "0", {"accumulation.count is 0"},
              [](Given& to) { to.options.accumulation.count = 0; }),
      trainer("accumulation.count", "1", "2", {"accumulation.count", "'1'", "'2'"},
              [](Given& to) { to.options.accumulation.count = 2; }),
      trainer("accumulation.reduction", "sum", "mean", {"accumulation.reduction"},
              [](Given& to) { to.options.accumulation.reduction = Reduction::kMean; }),
      trainer("gradient_scale", "mean of replicas", "sum", {"gradient_scale"},
              [](Given& to) { to.options.gradient_scale = GradientScale::kSum; }),
      trainer("loss_scale.dynamic", "false", "true", {"loss_scale"},
              [](Given& to) { to.options.loss_scale.dynamic = true; }),
      trainer("loss_scale.initial", "1", "8", {"loss_scale.initial", "'1'", "'8'"},
              [](Given& to) { to.options.loss_scale.initial = 8; }),
      trainer("replicas_per_optimizer_state", "1", "2", {"replicas_per_optimizer_state", "'1'", "'2'"},
              [](Given& to) { to.options.replicas_per_optimizer_state = 2; }),
      trainer("metrics", "loss", "none", {"metrics"}, [](Given& to) { to.options.metrics = {}; }),
      trainer("flops_per_micro_batch", "0", "5", {"flops_per_micro_batch"},
              [](Given& to) { to.options.flops_per_micro_batch = 5; }),
      trainer("memory", "no activations", "9 bytes", {"memory"},
              [](Given& to) { to.options.memory.activation_bytes = 9; }),
      trainer("initialise: seed (instance 0's counts)", "1", "2", {}, [](Given& to) { to.seed = 2; }),
  };
}

/// A trainer that trains, and what its calls are given.
struct StepTraining {
  explicit StepTraining(Context& job)
      : context(job),
        strategy(strategyNamed("horovod", job)),
        rate(std::make_shared<double>(0.1)),
        trainer(*strategy, regression::parameters(), [](const MicroBatch&) {},
                sgd(LearningRate([at = rate](std::uint64_t) { return *at; })), {.metrics = {"loss"}}),
        infeed(feed(2, 1)) {
    trainer.initialise(1);
  }

  io::Infeed feed(std::size_t rows, std::uint64_t seed, std::uint64_t elements = 96) const {
    return io::Infeed(regression::samples().take(elements).shuffle(seed).batch(rows).forReplicas(
        io::InputContext::of(context)));
  }

  Context& context;
  std::unique_ptr<Strategy> strategy;
  std::shared_ptr<double> rate;
  Trainer trainer;
  io::Infeed infeed;
};

Row later(std::string call, std::string argument, std::string others, std::string one,
          std::vector<std::string> named, const std::function<void(StepTraining&, bool)>& body) {
  return {.call = "Trainer." + std::move(call),
          .argument = std::move(argument),
          .others = std::move(others),
          .one = std::move(one),
          .later = true,
          .named = std::move(named),
          .run = [body](Context& context, bool differs) {
            StepTraining training(context);
            training.trainer.run(training.infeed, 2);
            body(training, differs);
          }};
}

Rows runs() {
  return {
      later("run", "updates", "2", "3", {"updates", "'2'", "'3'"},
            [](StepTraining& t, bool differs) { t.trainer.run(t.infeed, differs ? 3 : 2); }),
      later("run", "the call", "run", "evaluate", {"'Trainer.run'", "'Trainer.evaluate'"},
            [](StepTraining& t, bool differs) {
              if (differs)
                t.trainer.evaluate(t.infeed);
              else
                t.trainer.run(t.infeed, 2);
            }),
      later("run", "the call", "run", "initialise", {"'Trainer.run'", "'Trainer.initialise'"},
            [](StepTraining& t, bool differs) {
              if (differs)
                t.trainer.initialise(1);
              else
                t.trainer.run(t.infeed, 2);
            }),
      later("run", "number of calls", "2", "3", {"'Trainer.evaluate'", "'Trainer.run'"},
            [](StepTraining& t, bool differs) {
              if (differs) t.trainer.run(t.infeed, 2);
              t.trainer.evaluate(t.infeed);
            }),
  };
}

Rows data() {
  return {
      later("run", "micro-batch", "2 rows", "4 rows", {"micro-batch", "2", "4"},
            [](StepTraining& t, bool differs) {
              io::Infeed other = t.feed(differs ? 4 : 2, 1);
              t.trainer.run(other, 2);
            }),
      later("run", "seed of the data", "1", "2",
            {"the data that instances share", "shuffle(1)", "shuffle(2)"},
            [](StepTraining& t, bool differs) {
              io::Infeed other = t.feed(2, differs ? 2 : 1);
              t.trainer.run(other, 2);
            }),
      later("run", "elements of the data", "96", "48", {"the data that instances share", "take(48)"},
            [](StepTraining& t, bool differs) {
              io::Infeed other = t.feed(2, 1, differs ? 48 : 96);
              t.trainer.run(other, 2);
            }),
      later("run", "shards of the data", "2", "1", {"the data that instances share", "shard(2)"},
            [](StepTraining& t, bool differs) {
              io::Infeed other(regression::samples().shard(differs ? 1 : 2, 0).batch(2));
              t.trainer.run(other, 2);
            }),
      later("run", "InfeedOptions::replicas", "1", "2", {"the infeed has 2 replicas"},
            [](StepTraining& t, bool differs) {
              io::Infeed other(regression::samples().batch(2), {.replicas = differs ? 2 : 1});
              t.trainer.run(other, 2);
            }),
      later("run", "the optimizer's rate", "0.1", "0.2", {"rate", "0.1", "0.2"},
            [](StepTraining& t, bool differs) {
              if (differs) *t.rate = 0.2;
              t.trainer.run(t.infeed, 2);
            }),
      later("run", "denormals", "kept", "flushed", {"denormals", "'kept'", "'flushed'"},
            [](StepTraining& t, bool differs) {
              std::optional<FlushDenormals> flush;
              if (differs) flush.emplace();
              t.trainer.run(t.infeed, 2);
            }),
      later("run", "InfeedOptions::threads", "1", "2", {},
            [](StepTraining& t, bool differs) {
              io::Infeed other(regression::samples().batch(2).forReplicas(io::InputContext::of(t.context)),
                               {.threads = differs ? 2 : 1});
              t.trainer.run(other, 2);
            }),
      later("evaluate", "micro-batch", "2 rows", "4 rows", {"micro-batch", "2", "4"},
            [](StepTraining& t, bool differs) {
              io::Infeed other = t.feed(differs ? 4 : 2, 1);
              t.trainer.evaluate(other);
            }),
      later("evaluate", "infeed's pass", "has an end", "never ends", {"the infeed's pass never ends"},
            [](StepTraining& t, bool differs) {
              io::Dataset data = regression::samples().batch(2);
              io::Infeed other(differs ? std::move(data).repeat() : std::move(data));
              t.trainer.evaluate(other);
            }),
      later("evaluate", "micro-batches, without forReplicas()", "48", "24", {},
            [](StepTraining& t, bool differs) {
              io::Infeed other(regression::samples().take(differs ? 48 : 96).batch(2));
              t.trainer.evaluate(other);
            }),
  };
}

Row batchNorm(std::string argument, std::string others, std::string one, std::vector<std::string> named,
              const std::function<void(BatchNormOptions&)>& change) {
  return {.call = "BatchNorm",
          .argument = std::move(argument),
          .others = std::move(others),
          .one = std::move(one),
          .named = std::move(named),
          .run = [change](Context& context, bool differs) {
            BatchNormOptions options{.channels = 3, .span = 2};
            if (differs) change(options);
            const BatchNorm made(context, options);
          }};
}

Rows layers() {
  return {
      batchNorm("channels", "3", "4", {"channels", "'3'", "'4'"}, [](auto& to) { to.channels = 4; }),
      batchNorm("channels", "3", "0", {"channels is 0"}, [](auto& to) { to.channels = 0; }),
      batchNorm("span", "2", "1", {"span", "'2'", "'1'"}, [](auto& to) { to.span = 1; }),
      batchNorm("epsilon", "1e-5", "1e-3", {"epsilon"}, [](auto& to) { to.epsilon = 1e-3F; }),
      batchNorm("momentum", "0.1", "0.2", {"momentum"}, [](auto& to) { to.momentum = 0.2F; }),
      {.call = "Variables",
       .argument = "variables",
       .others = "a",
       .one = "b",
       .named = {"the variables", "a", "b"},
       .run = [](Context& context,
                 bool differs) { const Variables made(context, {{.name = differs ? "b" : "a"}}); }},
      {.call = "IpuMultiWorkerStrategy",
       .argument = "variables_on_host",
       .others = "false",
       .one = "true",
       .named = {"the strategy's options"},
       .run =
           [](Context& context, bool differs) {
             const IpuMultiWorkerStrategy made(context, {.variables_on_host = differs});
           }},
      {.call = "IpuHorovodStrategy",
       .argument = "FusionOptions::bucket_bytes",
       .others = "4 MiB",
       .one = "1 MiB",
       .named = {"the strategy's options", "1048576"},
       .run =
           [](Context& context, bool differs) {
             FusionOptions options;
             if (differs) options.bucket_bytes = 1 << 20;
             const IpuHorovodStrategy made(context, options);
           }},
      {.call = "HpuStrategy",
       .argument = "bfloat16_conversion",
       .others = "false",
       .one = "true",
       .named = {"bfloat16_conversion"},
       .run = [](Context& context,
                 bool differs) { const HpuStrategy made(context, {.bfloat16_conversion = differs}); }},
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

Row session(std::string call, std::string argument, std::string others, std::string one,
            std::vector<std::string> named, const std::function<void(popart::Session&, bool)>& body) {
  return {.call = std::move(call),
          .argument = std::move(argument),
          .others = std::move(others),
          .one = std::move(one),
          .named = std::move(named),
          .run = [body](Context& context, bool differs) {
            const popart::SessionOptions options{.host_all_reduce = true};
            popart::Session of(context, model(), {2, {}}, options);
            hvd::DistributedOptimizer(sgd(0.1), of, options).insertHostAllReduce();
            body(of, differs);
          }};
}

Rows sessions() {
  return {
      {.call = "hvd::DistributedOptimizer.insertHostAllReduce",
       .argument = "SessionOptions::host_all_reduce_remote_buffer",
       .others = "false",
       .one = "true",
       .named = {"SessionOptions", "host_all_reduce_remote_buffer"},
       .run =
           [](Context& context, bool differs) {
             const popart::SessionOptions options{.host_all_reduce = true,
                                                  .host_all_reduce_remote_buffer = differs};
             popart::Session of(context, model(), {2, {}}, options);
             hvd::DistributedOptimizer(sgd(0.1), of, options).insertHostAllReduce();
           }},
      {.call = "popart::Session",
       .argument = "DataFlow::batches_per_step",
       .others = "2",
       .one = "3",
       .named = {"batches_per_step", "'2'", "'3'"},
       .run =
           [](Context& context, bool differs) {
             const popart::SessionOptions options{.host_all_reduce = true};
             popart::Session of(context, model(), {differs ? 3 : 2, {}}, options);
             hvd::DistributedOptimizer(sgd(0.1), of, options).insertHostAllReduce();
           }},
      session("hvd::broadcastWeights", "root_rank", "0", "1", {"root_rank", "'0'", "'1'"},
              [](popart::Session& of, bool differs) { hvd::broadcastWeights(of, differs ? 1 : 0); }),
      session("hvd::broadcastWeights", "root_rank", "0", "7", {"root_rank is 7"},
              [](popart::Session& of, bool differs) { hvd::broadcastWeights(of, differs ? 7 : 0); }),
      session("popart::Session.run", "the call before", "broadcastWeights", "none", {"broadcastWeights"},
              [](popart::Session& of, bool differs) {
                if (!differs) hvd::broadcastWeights(of);
                io::Infeed infeed(regression::samples());
                of.run(infeed);
              }),
  };
}

}  // namespace

Rows trainingRows() {
  Rows all;
  for (const Rows& rows : {constructors(), runs(), data(), layers(), sessions()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

}  // namespace popdist::testing
