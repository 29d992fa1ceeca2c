// SPDX-License-Identifier: Apache-2.0
// A network in four stages, each on an IPU of its replica, trained by Adam whose state the replicas share and
// keep in Streaming Memory.
//
//   poprun --num-instances 2 --num-replicas 2 --ipus-per-replica 4 fashion_pipeline --schedule interleaved
//
// Prints what the pipeline is, what each IPU would keep, how a run goes on the Pod, and what an update takes
// there; --svg draws it. The weights are the same, to the bit, for every schedule, every --state and every
// split of the replicas over instances.
#include <chrono>
#include <cstdio>
#include <exception>
#include <popdist/popdist.hpp>
#include <string>

#include "choices.h"
#include "command_line.h"
#include "data.h"
#include "isa.h"
#include "stages.h"

namespace {

namespace io = popdist::io;
namespace train = popdist::train;

constexpr std::size_t kMicroBatch = 16;
constexpr int kAccumulation = 16;  // micro-batches of an update: a multiple of 8, see --schedule grouped
constexpr double kFlopsPerSecond = 18.75e12;  // of an IPU: 0.3 of a GC200's peak in fp32

/// Adam's two moments of each parameter.
enum class State {
  kEach,       ///< all of it on every replica
  kShared,     ///< a part of it on every replica
  kOffloaded,  ///< likewise, in Streaming Memory between updates
};

struct Options {
  std::string data = "/usr/share/datasets/fashion-mnist";
  train::ScheduleKind schedule = train::ScheduleKind::kGrouped;
  State state = State::kOffloaded;
  bool recompute = false;
  int epochs = 2;
  std::string svg;
};

Options parse(int argc, char** argv) {
  Options options;
  CommandLine line("fashion_pipeline",
                   "Trains a pipeline of four stages on Fashion-MNIST.\n"
                   "  --schedule NAME  grouped, interleaved or sequential (grouped)\n"
                   "  --state NAME     where Adam's state is: on each replica, shared by all, or\n"
                   "                   offloaded: shared, in Streaming Memory (offloaded)\n"
                   "  --recompute      activations are computed again in the backward pass\n"
                   "  --epochs N       (2)\n"
                   "  --svg FILE       where a drawing of the schedule goes\n"
                   "  --data DIR       with the four IDX files (default: Debian's dataset-fashion-mnist)\n");
  addSchedule(line, options.schedule);
  line.text("data", options.data)
      .text("svg", options.svg)
      .flag("recompute", options.recompute)
      .whole("epochs", options.epochs)
      .choice("state", "each, shared or offloaded",
              [&](const std::string& name) {
                options.state = name == "each"     ? State::kEach
                                : name == "shared" ? State::kShared
                                                   : State::kOffloaded;
                return name == "each" || name == "shared" || name == "offloaded";
              })
      .parse(argc, argv);
  return options;
}

double sumOf(const popdist::Tensors& sent, const char* name) {
  double sum = 0;
  for (const float each : sent.get<float>(name)) sum += static_cast<double>(each);
  return sum;
}

/// Loss and correct answers of all instances in the outfeed's results.
std::pair<double, double> score(train::Strategy& strategy, io::Outfeed& outfeed) {
  const popdist::Tensors sent = outfeed.dequeue();
  double sums[] = {sumOf(sent, "loss"), sumOf(sent, "correct")};
  strategy.reduce(sums);
  return {sums[0], sums[1]};
}

double microseconds(popdist::SimulatedTime time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

void describe(const train::PipelineProgram& program, const train::MemoryPlan& plan, const std::string& svg) {
  const train::Pipeline pipeline(program.pipeline);
  std::puts(pipeline.describe().c_str());
  std::puts(plan.text().c_str());
  const train::Simulation run = simulate(pipeline.schedule(), *program.times);
  std::printf("a run takes %.1f us on the Pod, %.0f %% of it idle\n\n", microseconds(run.total),
              100 * run.bubble);
  if (!svg.empty()) writeSvg(pipeline.schedule(), run, svg);
}

void printUpdate(const popdist::Pod& pod, std::uint64_t updates) {
  const popdist::Pod::Times& times = pod.times();
  const auto each = [&](popdist::SimulatedTime time) {
    return microseconds(time) / static_cast<double>(updates);
  };
  std::printf("an update on %s takes %.1f us: stages %.1f", pod.system().c_str(), each(pod.time()),
              each(times.compute));
  if (times.all_reduce.count() > 0) std::printf(", all-reduce %.1f", each(times.all_reduce));
  if (times.reduce_scatter.count() > 0)
    std::printf(", reduce-scatter %.1f, all-gather %.1f", each(times.reduce_scatter), each(times.all_gather));
  std::printf(", update: stream %.1f\n", each(times.streaming));
}

void run(popdist::Context& context, const Options& options) {
  const bool first = context.instanceIndex() == 0;
  auto isa = static_cast<int>(bestIsa());
  context.world().allReduce(std::span(&isa, 1), popdist::Operator::kMin);

  train::PopDistStrategy strategy(context);
  const int replicas = strategy.numReplicas();
  io::Infeed training =
      feedReplicas(context, readPart(options.data, "train", 10).shuffle(42).batch(kMicroBatch));
  io::Infeed test = feedReplicas(context, readPart(options.data, "t10k", 10).batch(kMicroBatch));
  const std::uint64_t updates = *training.steps() / kAccumulation;
  io::Outfeed outfeed({.replicas = context.numLocalReplicas(),
                       .buffer_depth = std::max(updates * kAccumulation, *test.steps())});

  train::Parameters parameters;
  train::PipelineProgram program{.outfeed = &outfeed, .times = timesOfStages(kMicroBatch, kFlopsPerSecond)};
  const float factor = 1.0F / static_cast<float>(kMicroBatch * kAccumulation);
  program.pipeline.stages = fourStages(parameters, kMicroBatch, factor, static_cast<Isa>(isa));
  program.pipeline.parameters = parameters.spec();
  program.pipeline.inputs = training.spec();
  program.pipeline.schedule = options.schedule;
  program.pipeline.gradient_accumulation_count = kAccumulation;
  program.pipeline.recompute = options.recompute;
  program.pipeline.loss = "loss";
  const train::Optimizer optimizer =
      train::adam({.rate = train::linearToZero(3e-3, updates * static_cast<std::uint64_t>(options.epochs))});
  train::Trainer trainer(
      strategy, parameters, program, optimizer,
      {.replicas_per_optimizer_state = options.state == State::kEach ? 1 : replicas,
       .memory = {.offload_weight_update_variables =
                      options.state == State::kOffloaded ? train::Offload::kOn : train::Offload::kOff,
                  .activation_bytes = train::Pipeline(program.pipeline).storedBytes() / 4}});
  if (first) describe(program, trainer.memoryPlan(), options.svg);
  trainer.initialise(42);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    training.start({.epoch = static_cast<std::uint64_t>(epoch)});
    const train::Progress progress = trainer.run(training, updates);
    const double loss = score(strategy, outfeed).first;
    test.start();
    const double tested = static_cast<double>(trainer.evaluate(test).micro_batches * kMicroBatch);
    const double correct = score(strategy, outfeed).second;
    const double samples = static_cast<double>(progress.micro_batches * kMicroBatch);
    if (first)
      std::printf("epoch %d/%d: loss %.4f, test accuracy %.2f %%, %.0f samples/s\n", epoch + 1,
                  options.epochs, loss / samples, 100 * correct / tested, samples / progress.seconds.all);
  }
  if (first) printUpdate(strategy.pod(), trainer.updates());
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const popdist::FlushDenormals flush;  // before any thread
  try {
    run(popdist::Context::fromEnvironment(), options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_pipeline: %s\n", error.what());
    return 1;
  }
}
