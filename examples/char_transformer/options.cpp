// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

namespace train = popdist::train;

constexpr const char* kHelp =
    "Trains a transformer of four pipeline stages to continue a text, and lets it write.\n"
    "  --text FILE           to learn from; its last tenth is held out (Debian's GPL-3)\n"
    "  --updates N           (600)\n"
    "  --report N            updates from one line to the next (50)\n"
    "  --blocks N            at least 4 (4)\n"
    "  --width N             a multiple of the heads (64)\n"
    "  --heads N             (4)\n"
    "  --context N           characters that are seen at a time (64)\n"
    "  --tied                the last layer's weights are the embedding's: on one IPU then\n"
    "  --schedule NAME       grouped, interleaved or sequential (grouped)\n"
    "  --recompute           activations are computed again in the backward pass\n"
    "  --recompute-mode NAME whole: a stage, then its backward; segments: block by block\n"
    "  --micro-batch N       texts that a replica processes at once (4)\n"
    "  --accumulation N      micro-batches per weight update (8)\n"
    "  --rate X              of AdamW, the highest; a cosine takes it to a tenth (0.003)\n"
    "  --warmup N            updates in which it rises (20)\n"
    "  --weight-decay X      (0.01)\n"
    "  --clip X              the largest norm of all gradients (1)\n"
    "  --checkpoints DIR     where the training is saved at each report, and goes on from\n"
    "  --output-model FILE   where instance 0 writes the trained parameters\n"
    "  --svg FILE            where a drawing of the schedule goes\n"
    "  --sample N            characters that are written at the end (300)\n"
    "  --temperature X       0: always the likeliest character (0.8)\n"
    "  --prompt TEXT         what the sample begins with ('The ')\n"
    "  --seed N              of parameters, order and sample (42)\n"
    "  --isa NAME            instruction set: baseline, avx2, avx512 (the best that all instances have)\n"
    "N is a whole number from 1 to 1000000, that of --seed, --sample and --warmup from 0; X is from 0 to "
    "100.\n";

[[noreturn]] void mistake(const std::string& message) {
  std::fprintf(stderr, "char_transformer: %s (see --help)\n", message.c_str());
  std::exit(2);
}

std::size_t number(const std::string& option, const char* text, long least = 1) {
  constexpr long kMost = 1'000'000;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > kMost)
    mistake("--" + option + ": '" + text + "' is not a whole number from " + std::to_string(least) + " to " +
            std::to_string(kMost));
  return static_cast<std::size_t>(value);
}

double fraction(const std::string& option, const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*text == '\0' || *end != '\0' || !(value >= 0 && value <= 100))
    mistake("--" + option + ": '" + text + "' is not a number from 0 to 100");
  return value;
}

train::ScheduleKind scheduleNamed(const std::string& name) {
  if (name == "grouped") return train::ScheduleKind::kGrouped;
  if (name == "interleaved") return train::ScheduleKind::kInterleaved;
  if (name == "sequential") return train::ScheduleKind::kSequential;
  mistake("--schedule: '" + name + "' is not grouped, interleaved or sequential");
}

train::RecomputeMode modeNamed(const std::string& name) {
  if (name == "whole") return train::RecomputeMode::kThenBackpropagate;
  if (name == "segments") return train::RecomputeMode::kAndBackpropagateInterleaved;
  mistake("--recompute-mode: '" + name + "' is not whole or segments");
}

Isa instructionSet(const std::string& name) {
  const std::optional<Isa> isa = isaNamed(name);
  if (!isa) mistake("--isa: '" + name + "' is not baseline, avx2 or avx512");
  if (*isa > bestIsa()) mistake("--isa: this CPU has no " + name + ", only " + nameOf(bestIsa()));
  return *isa;
}

struct Setting {
  bool has_value = true;
  std::function<void(const char* value)> set;
};
using Settings = std::map<std::string, Setting>;

void addModel(Settings& settings, TransformerOptions& options) {
  const auto count = [&](const std::string& name, std::size_t& to) {
    settings[name] = {true, [name, &to](const char* text) { to = number(name, text); }};
  };
  count("blocks", options.model.blocks);
  count("width", options.model.width);
  count("heads", options.model.heads);
  count("context", options.model.context);
  count("micro-batch", options.micro_batch);
  count("accumulation", options.accumulation);
  settings["tied"] = {false, [&](const char*) { options.model.tied = true; }};
  settings["recompute"] = {false, [&](const char*) { options.recompute = true; }};
  settings["schedule"] = {true, [&](const char* text) { options.schedule = scheduleNamed(text); }};
  settings["recompute-mode"] = {true, [&](const char* text) {
                                  options.recompute = true;
                                  options.recompute_mode = modeNamed(text);
                                }};
  settings["isa"] = {true, [&](const char* text) { options.isa = instructionSet(text); }};
}

void addTraining(Settings& settings, TransformerOptions& options) {
  const auto count = [&](const std::string& name, std::uint64_t& to, long least) {
    settings[name] = {true, [name, &to, least](const char* text) { to = number(name, text, least); }};
  };
  const auto real = [&](const std::string& name, double& to) {
    settings[name] = {true, [name, &to](const char* text) { to = fraction(name, text); }};
  };
  const auto words = [&](const std::string& name, std::string& to) {
    settings[name] = {true, [&to](const char* text) { to = text; }};
  };
  count("updates", options.updates, 1);
  count("report", options.report, 1);
  count("warmup", options.warmup, 0);
  count("seed", options.seed, 0);
  settings["sample"] = {true, [&](const char* text) { options.writer.count = number("sample", text, 0); }};
  real("rate", options.rate);
  real("weight-decay", options.weight_decay);
  real("clip", options.clip);
  real("temperature", options.writer.temperature);
  words("text", options.text);
  words("checkpoints", options.checkpoints);
  words("output-model", options.output_model);
  words("svg", options.svg);
  words("prompt", options.beginning);
}

void check(const TransformerOptions& options) {
  if (options.model.blocks < Transformer::kStages)
    mistake("--blocks: " + std::to_string(options.model.blocks) + " are fewer than the " +
            std::to_string(Transformer::kStages) + " stages");
  if (options.model.width % options.model.heads != 0)
    mistake("--width: " + std::to_string(options.model.width) + " is not a multiple of --heads " +
            std::to_string(options.model.heads));
  if (options.clip <= 0) mistake("--clip: the largest norm is above 0");
  if (options.beginning.empty()) mistake("--prompt: at least one character");
  if (options.warmup >= options.updates)
    mistake("--warmup: " + std::to_string(options.warmup) + " is not below --updates " +
            std::to_string(options.updates));
}

}  // namespace

TransformerOptions parseOptions(int argc, char** argv) {
  TransformerOptions options;
  Settings settings;
  addModel(settings, options);
  addTraining(settings, options);
  settings["help"] = {false, [](const char*) {
                        std::fputs(kHelp, stdout);
                        std::exit(0);
                      }};
  std::vector<option> known;
  for (const auto& [name, setting] : settings)
    known.push_back({name.c_str(), setting.has_value ? required_argument : no_argument, nullptr, 0});
  known.push_back({nullptr, 0, nullptr, 0});
  int at = 0;
  for (int found = 0; (found = getopt_long(argc, argv, "", known.data(), &at)) != -1;) {
    if (found != 0) std::exit(2);  // getopt_long has said why
    settings[known[static_cast<std::size_t>(at)].name].set(optarg);
  }
  if (optind < argc) mistake(std::string("unexpected argument '") + argv[optind] + "'");
  check(options);
  options.writer.seed = options.seed;
  return options;
}
