// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <string>

#include "choices.h"
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
  CommandLine line("fashion_mnist", kHelp);
  line.text("data", options.data)
      .text("output-model", options.output_model)
      .text("strategy", options.strategy)
      .text("checkpoints", options.checkpoints)
      .flag("evaluate", options.evaluate)
      .whole("epochs", options.epochs)
      .whole("micro-batch", options.micro_batch)
      .whole("accumulation", options.accumulation)
      .whole("seed", options.seed, 0)
      .fraction("learning-rate", 10, [&](double rate) { options.learning_rate = static_cast<float>(rate); })
      .fraction("momentum", 10, [&](double momentum) { options.momentum = static_cast<float>(momentum); })
      .choice("optimizer", "momentum or adam",
              [&](const std::string& name) {
                options.adam = name == "adam";
                return options.adam || name == "momentum";
              })
      .choice("model", "mlp, cnn or small-cnn", [&](const std::string& name) {
        const std::optional<NetworkShape> shape = networkNamed(name);
        if (shape) options.model = *shape;
        return shape.has_value();
      });
  addIsa(line, options.isa);
  line.parse(argc, argv);
  return options;
}
