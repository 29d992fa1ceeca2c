// SPDX-License-Identifier: Apache-2.0
// Data-parallel training with libpopdist, from start to end. Copy it.
//
//   poprun --num-instances 2 --num-replicas 4 fashion_mnist --model cnn --epochs 3 --output-model model.bin
//
// Every replica has its own copy of the model and sees its own share of the data; after each batch the
// gradients of all replicas are summed on the emulated Pod, so that all copies stay the same. The trained
// weights do not depend on how the replicas are split over instances, to the bit. They do depend on the
// instruction set. With --checkpoints a training that was killed goes on where it was, and a process that
// TF_CONFIG calls an evaluator tests what it saves.
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <popdist/popdist.hpp>
#include <stdexcept>
#include <string>

#include "classifier.h"
#include "data.h"
#include "evaluator.h"
#include "isa.h"
#include "model_file.h"
#include "options.h"

namespace {

namespace io = popdist::io;
namespace train = popdist::train;

class Training {
 public:
  Training(popdist::Context& context, const TrainingOptions& options)
      : context_(context),
        options_(options),
        strategy_(train::strategyNamed(options.strategy, context)),
        isa_(commonIsa()),
        classifier_(options, isa_),
        training_(openTraining()),
        test_(context, options),
        trainer_(*strategy_, classifier_.parameters(), classifier_.step(), optimizer(),
                 classifier_.trainerOptions()) {
    if (isFirstInstance() && !options.output_model.empty()) model_.emplace(options.output_model);
    if (test_.image != image_) throw std::runtime_error("training and test images differ in size");
    if (!options.checkpoints.empty())
      checkpoints_.emplace(context, train::CheckpointOptions{.directory = options.checkpoints});
    if (!checkpoints_ || !trainer_.resume(*checkpoints_, training_)) trainer_.initialise(options.seed);
  }

  void run() {
    if (isFirstInstance()) std::printf("instruction set: %s\n", nameOf(isa_));
    const std::uint64_t done = trainer_.updates() / updatesPerEpoch();
    if (isFirstInstance() && done > 0)
      std::printf("goes on after epoch %d, from %s\n", static_cast<int>(done), options_.checkpoints.c_str());
    for (std::uint64_t epoch = done; epoch < epochs(); ++epoch) {
      training_.start({.epoch = epoch});
      const popdist::SimulatedTime pod_begin = podTime();
      const popdist::SimulatedTime collective_begin = collectiveTime();
      const train::Progress progress = trainer_.run(training_, updatesPerEpoch());
      report(epoch, progress, podTime() - pod_begin, collectiveTime() - collective_begin);
      if (checkpoints_) trainer_.save(*checkpoints_, training_);
    }
    if (checkpoints_) checkpoints_->wait();
    if (model_) save();
  }

 private:
  bool isFirstInstance() const { return context_.instanceIndex() == 0; }
  std::uint64_t epochs() const { return static_cast<std::uint64_t>(options_.epochs); }
  std::uint64_t updatesPerEpoch() const {
    return *training_.steps() / static_cast<std::uint64_t>(options_.accumulation);
  }
  std::size_t samplesPerUpdate() const {
    return static_cast<std::size_t>(options_.micro_batch) * static_cast<std::size_t>(options_.accumulation) *
           static_cast<std::size_t>(strategy_->numReplicas());
  }

  /// Sums differ in their last bits between instruction sets, so all instances compute with the same.
  Isa commonIsa() {
    auto isa = static_cast<int>(options_.isa.value_or(bestIsa()));
    context_.world().allReduce(std::span(&isa, 1), popdist::Operator::kMin);
    return static_cast<Isa>(isa);
  }

  io::Infeed openTraining() {
    const popdist::Span span("open the training images");  // in traces of a run: POPDIST_TRACE
    io::Dataset images = readPart(options_.data, "train", static_cast<int>(options_.model.classes()));
    image_ = images.spec().at(0).shape;
    if (popdist::elementsOf(image_) != options_.model.inputs())
      throw std::runtime_error("images are " + popdist::textOf(image_) + ", and the network takes " +
                               std::to_string(options_.model.inputs()) + " pixels");
    checkUpdate(*images.size());
    return feedReplicas(
        context_,
        std::move(images).shuffle(options_.seed).batch(static_cast<std::size_t>(options_.micro_batch)));
  }

  /// An epoch is at least one weight update.
  void checkUpdate(std::size_t samples) const {
    if (samplesPerUpdate() <= samples) return;
    throw std::runtime_error("one weight update takes " + std::to_string(samplesPerUpdate()) +
                             " samples (--micro-batch " + std::to_string(options_.micro_batch) +
                             ", --accumulation " + std::to_string(options_.accumulation) +
                             ", poprun's --num-replicas " + std::to_string(strategy_->numReplicas()) +
                             "), and there are " + std::to_string(samples));
  }

  /// The rate falls linearly to zero at the end of the training.
  train::Optimizer optimizer() const {
    const double first =
        options_.learning_rate.value_or(options_.adam ? 1e-3F : options_.model.learning_rate);
    const train::LearningRate rate = train::linearToZero(first, updatesPerEpoch() * epochs());
    if (options_.adam) return train::adam({.rate = rate});
    return train::momentum({.rate = rate, .momentum = options_.momentum});
  }

  popdist::SimulatedTime podTime() const {
    return pod_ != nullptr ? pod_->time() : popdist::SimulatedTime(0);
  }
  popdist::SimulatedTime collectiveTime() const {
    return pod_ != nullptr ? pod_->collectiveTime() : popdist::SimulatedTime(0);
  }

  void report(std::uint64_t epoch, const train::Progress& progress, popdist::SimulatedTime pod_time,
              popdist::SimulatedTime collective_time) {
    test_.infeed.start();
    const double correct = trainer_.evaluate(test_.infeed).sum("correct");
    if (!isFirstInstance()) return;
    const auto updates = static_cast<double>(progress.updates);
    const double samples = updates * static_cast<double>(samplesPerUpdate());
    std::printf("epoch %d/%d: loss %.4f, test accuracy %.2f %%, %.0f samples/s", static_cast<int>(epoch) + 1,
                options_.epochs, progress.sum("loss") / samples,
                100.0 * correct / static_cast<double>(test_.samples), samples / progress.seconds.all);
    if (pod_ != nullptr) {
      const double step_us = std::chrono::duration<double, std::micro>(pod_time).count() / updates;
      const double share =
          100.0 * static_cast<double>(collective_time.count()) / static_cast<double>(pod_time.count());
      std::printf("; on %s: %.1f us per step, %.1f %% of it all-reduce", pod_->system().c_str(), step_us,
                  share);
    }
    std::puts("");
    std::fflush(stdout);
  }

  /// The parameters as little-endian floats.
  void save() {
    const popdist::ConstTensorRefs parameters = trainer_.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) model_->write(parameters.bytes(i));
    model_->finish();
  }

  popdist::Context& context_;
  const TrainingOptions& options_;
  std::unique_ptr<train::Strategy> strategy_;
  const popdist::Pod* pod_ = strategy_->simulatedPod();  // null: the strategy has none
  Isa isa_;
  Classifier classifier_;
  popdist::Shape image_;
  io::Infeed training_;
  TestSet test_;
  train::Trainer trainer_;
  std::optional<train::Checkpoints> checkpoints_;
  std::optional<ModelFile> model_;
};

}  // namespace

int main(int argc, char** argv) {
  const TrainingOptions options = parseOptions(argc, argv);
  // The momentum of a dead pixel's weights would end as denormals, with which many CPUs are slow.
  const popdist::FlushDenormals flush;
  try {
    const std::shared_ptr<popdist::Context> context = train::contextFor();
    if (options.evaluate || train::resolveCluster().isEvaluator())
      evaluateCheckpoints(*context, options);
    else
      Training(*context, options).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what());
    return 1;
  }
}
