// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <string>

#include "choices.h"
#include "command_line.h"

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

void addModel(CommandLine& line, TransformerOptions& options) {
  line.whole("blocks", options.model.blocks)
      .whole("width", options.model.width)
      .whole("heads", options.model.heads)
      .whole("context", options.model.context)
      .whole("micro-batch", options.micro_batch)
      .whole("accumulation", options.accumulation)
      .flag("tied", options.model.tied)
      .flag("recompute", options.recompute)
      .choice("recompute-mode", "whole or segments", [&options](const std::string& name) {
        options.recompute = true;
        options.recompute_mode = name == "whole" ? train::RecomputeMode::kThenBackpropagate
                                                 : train::RecomputeMode::kAndBackpropagateInterleaved;
        return name == "whole" || name == "segments";
      });
  addSchedule(line, options.schedule);
  addIsa(line, options.isa);
}

void addTraining(CommandLine& line, TransformerOptions& options) {
  const auto real = [&line](const char* name, double& to) {
    line.fraction(name, 100, [&to](double given) { to = given; });
  };
  real("rate", options.rate);
  real("weight-decay", options.weight_decay);
  real("clip", options.clip);
  real("temperature", options.writer.temperature);
  line.whole("updates", options.updates)
      .whole("report", options.report)
      .whole("warmup", options.warmup, 0)
      .whole("seed", options.seed, 0)
      .whole("sample", options.writer.count, 0)
      .text("text", options.text)
      .text("checkpoints", options.checkpoints)
      .text("output-model", options.output_model)
      .text("svg", options.svg)
      .text("prompt", options.beginning);
}

void check(const CommandLine& line, const TransformerOptions& options) {
  if (options.model.blocks < Transformer::kStages)
    line.mistake("--blocks: " + std::to_string(options.model.blocks) + " are fewer than the " +
                 std::to_string(Transformer::kStages) + " stages");
  if (options.model.width % options.model.heads != 0)
    line.mistake("--width: " + std::to_string(options.model.width) + " is not a multiple of --heads " +
                 std::to_string(options.model.heads));
  if (options.clip <= 0) line.mistake("--clip: the largest norm is above 0");
  if (options.beginning.empty()) line.mistake("--prompt: at least one character");
  if (options.warmup >= options.updates)
    line.mistake("--warmup: " + std::to_string(options.warmup) + " is not below --updates " +
                 std::to_string(options.updates));
}

}  // namespace

TransformerOptions parseOptions(int argc, char** argv) {
  TransformerOptions options;
  CommandLine line("char_transformer", kHelp);
  addModel(line, options);
  addTraining(line, options);
  line.parse(argc, argv);
  check(line, options);
  options.writer.seed = options.seed;
  return options;
}
