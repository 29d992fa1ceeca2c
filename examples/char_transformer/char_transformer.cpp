// SPDX-License-Identifier: Apache-2.0
// A transformer in four stages, each on an IPU of its replica, which learns to continue a text: trained by
// AdamW whose state the replicas share, with a rate that rises and falls, gradients of bounded norm, and
// checkpoints.
//
//   poprun --num-instances 2 --num-replicas 2 --ipus-per-replica 4 char_transformer --schedule interleaved
//
// The weights are the same, to the bit, for every schedule, with and without recomputation, and for every
// split of the replicas over instances. At the end the model writes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <popdist/popdist.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "model.h"
#include "model_file.h"
#include "options.h"
#include "text.h"
#include "writer.h"

namespace {

namespace io = popdist::io;
namespace train = popdist::train;

constexpr double kFlopsPerSecond = 18.75e12;  // of an IPU: 0.3 of a GC200's peak in fp32
constexpr std::size_t kLeastWindows = 64;     // of an evaluation

/// Sums differ in their last bits between instruction sets, so all instances compute with the same.
Isa commonIsa(popdist::Context& context, const TransformerOptions& options) {
  auto isa = static_cast<int>(options.isa.value_or(bestIsa()));
  context.world().allReduce(std::span(&isa, 1), popdist::Operator::kMin);
  return static_cast<Isa>(isa);
}

TransformerShape shapeFor(const Text& text, const TransformerOptions& options) {
  TransformerShape shape = options.model;
  shape.characters = text.characters();
  return shape;
}

/// Before the training: it may take long.
std::vector<std::uint8_t> beginningIn(const Text& text, const TransformerOptions& options) {
  std::vector<std::uint8_t> beginning = text.numbersOf(options.beginning);
  if (beginning.size() < options.beginning.size())
    throw std::runtime_error("--prompt '" + options.beginning + "' has characters that " + options.text +
                             " does not have");
  return beginning;
}

class Training {
 public:
  Training(popdist::Context& context, const TransformerOptions& options)
      : context_(context),
        options_(options),
        strategy_(context),
        text_(options.text, 20 * (options.model.context + 1)),
        beginning_(beginningIn(text_, options)),
        model_(shapeFor(text_, options), commonIsa(context, options)),
        training_(feed(windowsOf(text_.training(), options.model.context)
                           .shuffle(options.seed)
                           .batch(options.micro_batch)
                           .repeat())),
        held_out_(
            feed(windowsOf(text_.heldOut(), options.model.context, windows()).batch(options.micro_batch))),
        outfeed_({.replicas = context.numLocalReplicas(),
                  .buffer_depth = std::max<std::size_t>(options.report * options.accumulation,
                                                        windows() / options.micro_batch)}),
        trainer_(strategy_, model_.parameters(), program(), optimizer(),
                 {.replicas_per_optimizer_state = strategy_.numReplicas()}) {
    if (isFirst() && !options.output_model.empty()) file_.emplace(options.output_model);
    if (!options.checkpoints.empty())
      checkpoints_.emplace(context, train::CheckpointOptions{.directory = options.checkpoints});
    if (!checkpoints_ || !trainer_.resume(*checkpoints_, training_)) trainer_.initialise(options.seed);
  }

  void run() {
    if (isFirst()) describe();
    while (trainer_.updates() < options_.updates) {
      const std::uint64_t updates = std::min(options_.report, options_.updates - trainer_.updates());
      const train::Progress progress = trainer_.run(training_, updates);
      const double learned = bitsPerCharacter(progress);
      held_out_.start();
      const double held_out = bitsPerCharacter(trainer_.evaluate(held_out_));
      if (isFirst())
        std::printf("update %d/%d: %.3f bits per character, held out %.3f; %.0f characters/s\n",
                    static_cast<int>(trainer_.updates()), static_cast<int>(options_.updates), learned,
                    held_out, charactersOf(progress) / progress.seconds.all);
      std::fflush(stdout);
      if (checkpoints_) trainer_.save(*checkpoints_, training_);
    }
    if (checkpoints_) checkpoints_->wait();
    if (!isFirst()) return;
    if (file_) save();
    if (options_.writer.count > 0) writeSample();
  }

 private:
  bool isFirst() const { return context_.instanceIndex() == 0; }

  /// Those of an evaluation: as many for each replica, in counts that any schedule takes.
  std::size_t windows() const {
    const std::size_t step =
        options_.micro_batch * static_cast<std::size_t>(strategy_.numReplicas()) * Transformer::kStages;
    return (kLeastWindows + step - 1) / step * step;
  }

  io::Infeed feed(io::Dataset batches) const {
    return io::Infeed(std::move(batches).forReplicas(io::InputContext::of(context_)),
                      {.replicas = context_.numLocalReplicas()});
  }

  train::PipelineProgram program() {
    const float factor =
        1.0F / static_cast<float>(options_.micro_batch * options_.model.context * options_.accumulation);
    train::PipelineProgram program{.outfeed = &outfeed_};
    program.pipeline.stages = model_.trainingStages(options_.micro_batch, factor);
    program.pipeline.parameters = model_.parameters().spec();
    program.pipeline.inputs = training_.spec();
    // Stages that share a parameter are on one IPU.
    if (model_.shape().tied) program.pipeline.device_mapping = {0, 1, 2, 0};
    program.pipeline.schedule = options_.schedule;
    program.pipeline.gradient_accumulation_count = static_cast<std::int64_t>(options_.accumulation);
    program.pipeline.recompute = options_.recompute;
    program.pipeline.recompute_mode = options_.recompute_mode;
    program.pipeline.loss = "loss";
    program.times = planOf(train::Pipeline(program.pipeline))
                        .addTo(model_.timesOfStages(options_.micro_batch, kFlopsPerSecond));
    return program;
  }

  /// Plan of the state that the IPUs keep, and that they stream.
  train::PipelinePlan planOf(const train::Pipeline& pipeline) const {
    const int replicas = strategy_.numReplicas();
    return planMemory(pipeline, model_.parameters(), optimizer(),
                      {.replicas = replicas, .replicas_per_state = replicas});
  }

  train::Optimizer optimizer() const {
    const train::LearningRate falls =
        train::cosine(options_.rate, options_.updates - options_.warmup, options_.rate / 10);
    const train::LearningRate rate = options_.warmup == 0 ? falls : train::warmup(options_.warmup, falls);
    return train::chain(train::clipByGlobalNorm(options_.clip),
                        train::adamw({.rate = rate, .beta2 = 0.99, .weight_decay = options_.weight_decay}));
  }

  double charactersOf(const train::Progress& progress) const {
    return static_cast<double>(progress.micro_batches * options_.micro_batch * options_.model.context);
  }

  /// Average over all instances of the outfeed's results.
  double bitsPerCharacter(const train::Progress& progress) {
    const popdist::Tensors sent = outfeed_.dequeue();
    double loss = 0;
    for (const float each : sent.get<float>("loss")) loss += static_cast<double>(each);
    strategy_.reduce(std::span(&loss, 1));
    return loss / std::log(2.0) / charactersOf(progress);
  }

  void describe() {
    std::printf("text: %s, %zu characters of %zu kinds\n", options_.text.c_str(),
                text_.training().size() + text_.heldOut().size(), text_.characters());
    std::printf("held out: %.3f bits per character by single characters, %.3f by pairs\n",
                text_.unigramBits(), text_.bigramBits());
    std::printf("model: %zu parameters; each update sees %d texts\n\n", model_.parameters().elements(),
                trainer_.samplesPerUpdate(static_cast<int>(options_.micro_batch)));
    train::PipelineProgram described = program();
    const train::Pipeline pipeline(described.pipeline);
    std::puts(pipeline.describe().c_str());
    std::puts(planOf(pipeline).text().c_str());
    const train::Simulation run = simulate(pipeline.schedule(), *described.times);
    std::printf("a run takes %.1f us on the Pod, %.0f %% of it idle\n\n",
                std::chrono::duration<double, std::micro>(run.total).count(), 100 * run.bubble);
    if (!options_.svg.empty()) writeSvg(pipeline.schedule(), run, options_.svg);
    if (trainer_.updates() > 0)
      std::printf("goes on after update %d, from %s\n", static_cast<int>(trainer_.updates()),
                  options_.checkpoints.c_str());
  }

  void writeSample() const {
    const std::vector<std::uint8_t> text = write(model_, trainer_.parameters(), beginning_, options_.writer);
    std::printf("\n%s%s\n", text_.bytesOf(beginning_).c_str(), text_.bytesOf(text).c_str());
  }

  /// The parameters as little-endian floats.
  void save() {
    const popdist::ConstTensorRefs parameters = trainer_.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) file_->write(parameters.bytes(i));
    file_->finish();
  }

  popdist::Context& context_;
  const TransformerOptions& options_;
  train::PopDistStrategy strategy_;
  Text text_;
  const std::vector<std::uint8_t> beginning_;
  Transformer model_;
  io::Infeed training_, held_out_;
  io::Outfeed outfeed_;
  train::Trainer trainer_;
  std::optional<train::Checkpoints> checkpoints_;
  std::optional<ModelFile> file_;  // of the model
};

}  // namespace

int main(int argc, char** argv) {
  const TransformerOptions options = parseOptions(argc, argv);
  const popdist::FlushDenormals flush;  // before any thread
  try {
    Training(popdist::Context::fromEnvironment(), options).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "char_transformer: %s\n", error.what());
    return 1;
  }
}
