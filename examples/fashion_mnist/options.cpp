// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <string>

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
    "  --seed N              (42)\n"
    "  --isa NAME            instruction set: baseline, avx2, avx512 (the best that all instances have)\n"
    "N is a whole number from 1 to 1000000, that of --seed from 0; X is from 0 to 10.\n";

[[noreturn]] void mistake(const std::string& message) {
  std::fprintf(stderr, "fashion_mnist: %s (see --help)\n", message.c_str());
  std::exit(2);
}

int number(const char* option, const char* text, long least = 1) {
  constexpr long kMost = 1'000'000;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > kMost)
    mistake(std::string("--") + option + ": '" + text + "' is not a whole number from " +
            std::to_string(least) + " to " + std::to_string(kMost));
  return static_cast<int>(value);
}

float fraction(const char* option, const char* text) {
  char* end = nullptr;
  const float value = std::strtof(text, &end);
  if (*text == '\0' || *end != '\0' || !(value >= 0.0F && value <= 10.0F))
    mistake(std::string("--") + option + ": '" + text + "' is not a number from 0 to 10");
  return value;
}

NetworkShape network(const char* name) {
  const std::optional<NetworkShape> shape = networkNamed(name);
  if (!shape) mistake(std::string("--model: '") + name + "' is not mlp, cnn or small-cnn");
  return *shape;
}

bool isAdam(const std::string& name) {
  if (name != "adam" && name != "momentum") mistake("--optimizer: '" + name + "' is not momentum or adam");
  return name == "adam";
}

Isa instructionSet(const char* name) {
  const std::optional<Isa> isa = isaNamed(name);
  if (!isa) mistake(std::string("--isa: '") + name + "' is not baseline, avx2 or avx512");
  if (*isa > bestIsa())
    mistake(std::string("--isa: this CPU has no ") + name + ", only " + nameOf(bestIsa()));
  return *isa;
}

}  // namespace

TrainingOptions parseOptions(int argc, char** argv) {
  static const option kOptions[] = {
      {"data", 1, nullptr, 'd'},        {"output-model", 1, nullptr, 'o'}, {"epochs", 1, nullptr, 'e'},
      {"micro-batch", 1, nullptr, 'b'}, {"accumulation", 1, nullptr, 'a'}, {"learning-rate", 1, nullptr, 'l'},
      {"momentum", 1, nullptr, 'm'},    {"seed", 1, nullptr, 's'},         {"isa", 1, nullptr, 'i'},
      {"optimizer", 1, nullptr, 'p'},   {"strategy", 1, nullptr, 't'},     {"checkpoints", 1, nullptr, 'c'},
      {"model", 1, nullptr, 'n'},       {"help", 0, nullptr, 'h'},         {nullptr, 0, nullptr, 0}};
  TrainingOptions options;
  for (int found = 0; (found = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    switch (found) {
      case 'n':
        options.model = network(optarg);
        break;
      case 'd':
        options.data = optarg;
        break;
      case 'p':
        options.adam = isAdam(optarg);
        break;
      case 't':
        options.strategy = optarg;
        break;
      case 'c':
        options.checkpoints = optarg;
        break;
      case 'o':
        options.output_model = optarg;
        break;
      case 'e':
        options.epochs = number("epochs", optarg);
        break;
      case 'b':
        options.micro_batch = number("micro-batch", optarg);
        break;
      case 'a':
        options.accumulation = number("accumulation", optarg);
        break;
      case 'l':
        options.learning_rate = fraction("learning-rate", optarg);
        break;
      case 'm':
        options.momentum = fraction("momentum", optarg);
        break;
      case 's':
        options.seed = static_cast<std::uint64_t>(number("seed", optarg, 0));
        break;
      case 'i':
        options.isa = instructionSet(optarg);
        break;
      case 'h':
        std::fputs(kHelp, stdout);
        std::exit(0);
      default:
        std::exit(2);  // getopt_long has said why
    }
  }
  if (optind < argc) mistake(std::string("unexpected argument '") + argv[optind] + "'");
  return options;
}
