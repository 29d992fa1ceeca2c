// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <string>

#include "command_line.h"

namespace {

constexpr const char* kHelp =
    "Trains a small network on Fashion-MNIST, on as many replicas as poprun gives it.\n"
    "  --model NAME          mlp (one hidden layer), cnn (16 and 32 filters) or small-cnn (8 filters) (mlp)\n"
    "  --data DIR            with the four IDX files (default: Debian's dataset-fashion-mnist)\n"
    "  --output-model FILE   where instance 0 writes the trained parameters\n"
    "  --epochs N            (3)\n"
    "  --micro-batch N       samples that a replica processes at once (16)\n"
    "  --accumulation N      micro batches per weight update (2)\n"
    "  --optimizer NAME      momentum or adam (momentum)\n"
    "  --learning-rate X     at the start; falls to zero (0.1; small-cnn: 0.07; adam: 0.001)\n"
    "  --momentum X          (0.9)\n"
    "  --strategy NAME       popdist, multiworker, horovod, hpu or single (popdist)\n"
    "  --checkpoints DIR     where the training is saved after each epoch, and goes on from\n"
    "  --evaluate            tests all checkpoints that are there, and trains nothing\n"
    "  --seed N              (42)\n"
    "  --isa NAME            instruction set: baseline, avx2, avx512 (the best that all instances have)\n"
    "N is a whole number from 1 to 1000000, that of --seed from 0; X is from 0 to 10.\n";

}  // namespace

TrainingOptions parseOptions(int argc, char** argv) {
  TrainingOptions options;
  int seed = static_cast<int>(options.seed);
  CommandLine line("fashion_mnist", kHelp);
  line.text("data", options.data)
      .text("output-model", options.output_model)
      .text("strategy", options.strategy)
      .text("checkpoints", options.checkpoints)
      .flag("evaluate", options.evaluate)
      .whole("epochs", options.epochs)
      .whole("micro-batch", options.micro_batch)
      .whole("accumulation", options.accumulation)
      .whole("seed", seed, 0)
      .fraction("learning-rate", [&](float rate) { options.learning_rate = rate; })
      .fraction("momentum", [&](float momentum) { options.momentum = momentum; })
      .choice("optimizer", "momentum or adam",
              [&](const std::string& name) {
                options.adam = name == "adam";
                return options.adam || name == "momentum";
              })
      .choice("model", "mlp, cnn or small-cnn",
              [&](const std::string& name) {
                const std::optional<NetworkShape> shape = networkNamed(name);
                if (shape) options.model = *shape;
                return shape.has_value();
              })
      .choice("isa", "baseline, avx2 or avx512", [&](const std::string& name) {
        options.isa = isaNamed(name);
        return options.isa.has_value();
      });
  line.parse(argc, argv);
  options.seed = static_cast<std::uint64_t>(seed);
  if (options.isa && *options.isa > bestIsa())
    line.mistake(std::string("--isa: this CPU has no ") + nameOf(*options.isa) + ", only " +
                 nameOf(bestIsa()));
  return options;
}
