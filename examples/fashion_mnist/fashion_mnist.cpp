// SPDX-License-Identifier: Apache-2.0
// Data-parallel training with libpopdist, from start to end. Copy it.
//
//   poprun --num-instances 2 --num-replicas 4 fashion_mnist --model cnn --epochs 3 --output-model model.bin
//
// Every replica has its own copy of the model and sees its own share of the data; after each batch the
// gradients of all replicas are summed on the emulated Pod, so that all copies stay the same. The trained
// weights do not depend on how the replicas are split over instances, to the bit. They do depend on the
// instruction set.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <popdist/popdist.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "data.h"
#include "isa.h"
#include "loops.h"
#include "network.h"
#include "options.h"

namespace {

namespace io = popdist::io;

/// Allocated in memory that this host's instances share: the Pod sums it in place.
using SharedFloats = std::vector<float, popdist::SharedAllocator<float>>;

/// One replica: its copy of the parameters, and its optimiser's state.
struct Replica {
  std::vector<float> parameters;
  SharedFloats gradient;
  std::vector<float> velocity;
};

constexpr std::size_t kTestBatch = 250;

class Training {
 public:
  Training(popdist::Context& context, const TrainingOptions& options)
      : context_(context),
        options_(options),
        pod_(context),
        isa_(commonIsa()),
        network_(options.model, isa_),
        loops_(loopsOf(isa_)),
        training_(openTraining()),
        test_(openTest()),
        losses_({.replicas = pod_.numLocalReplicas(), .buffer_depth = *training_.steps()}) {
    network_.prepare(static_cast<std::size_t>(options.micro_batch));
    for (int local = 0; local < pod_.numLocalReplicas(); ++local) addReplica();
    broadcastInitialWeights();
  }

  void run() {
    if (isFirstInstance()) std::printf("instruction set: %s\n", nameOf(isa_));
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      const auto begin = std::chrono::steady_clock::now();
      const popdist::SimulatedTime pod_begin = pod_.time();
      const popdist::SimulatedTime collective_begin = pod_.collectiveTime();
      const double loss = trainEpoch(static_cast<std::uint64_t>(epoch));
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      report(epoch, loss, seconds.count(), pod_.time() - pod_begin, pod_.collectiveTime() - collective_begin);
    }
    if (isFirstInstance() && !options_.output_model.empty()) save();
  }

 private:
  bool isFirstInstance() const { return context_.instanceIndex() == 0; }
  std::size_t stepsPerEpoch() const {
    return *training_.steps() / static_cast<std::size_t>(options_.accumulation);
  }
  std::size_t samplesPerStep() const {
    return static_cast<std::size_t>(options_.micro_batch) * static_cast<std::size_t>(options_.accumulation) *
           static_cast<std::size_t>(pod_.numReplicas());
  }

  /// Sums differ in their last bits between instruction sets, so all instances compute with the same.
  Isa commonIsa() {
    auto isa = static_cast<int>(options_.isa.value_or(bestIsa()));
    context_.world().allReduce(std::span(&isa, 1), popdist::Operator::kMin);
    return static_cast<Isa>(isa);
  }

  io::Infeed openTraining() {
    io::Dataset images = readPart(options_.data, "train", static_cast<int>(options_.model.classes()));
    image_ = images.spec().at(0).shape;
    if (popdist::elementsOf(image_) != options_.model.inputs())
      throw std::runtime_error("images are " + popdist::textOf(image_) + ", and the network takes " +
                               std::to_string(options_.model.inputs()) + " pixels");
    checkStep(*images.size());
    return feedReplicas(
        context_,
        std::move(images).shuffle(options_.seed).batch(static_cast<std::size_t>(options_.micro_batch)));
  }

  /// Every image once: where they do not fill a batch, the weights say which are there.
  io::Infeed openTest() {
    io::Dataset images = readPart(options_.data, "t10k", static_cast<int>(options_.model.classes()));
    if (images.spec().at(0).shape != image_)
      throw std::runtime_error("training and test images differ in size");
    test_samples_ = *images.size();
    return feedReplicas(context_, std::move(images).batch(kTestBatch, io::Remainder::kPadWithWeights));
  }

  /// An epoch is at least one weight update.
  void checkStep(std::size_t samples) const {
    if (samplesPerStep() <= samples) return;
    throw std::runtime_error("one weight update takes " + std::to_string(samplesPerStep()) +
                             " samples (--micro-batch " + std::to_string(options_.micro_batch) +
                             ", --accumulation " + std::to_string(options_.accumulation) +
                             ", poprun's --num-replicas " + std::to_string(pod_.numReplicas()) +
                             "), and there are " + std::to_string(samples));
  }

  void addReplica() {
    replicas_.push_back(
        {.parameters = std::vector<float>(network_.parameterCount()),
         .gradient = SharedFloats(network_.parameterCount(), popdist::SharedAllocator<float>(context_)),
         .velocity = std::vector<float>(network_.parameterCount())});
  }

  /// Instance 0 draws them; everybody else gets them over the host.
  void broadcastInitialWeights() {
    std::vector<float> initial(network_.parameterCount());
    if (isFirstInstance()) network_.initialise(initial, options_.seed);
    context_.world().broadcast(initial, 0);
    for (Replica& replica : replicas_) replica.parameters = initial;
  }

  /// Returns the mean loss of a sample, over all replicas.
  double trainEpoch(std::uint64_t epoch) {
    training_.start({.epoch = epoch});
    for (std::size_t step = 0; step < stepsPerEpoch(); ++step) {
      for (std::size_t local = 0; local < replicas_.size(); ++local)
        accumulateGradient(static_cast<int>(local));
      reduceGradients();
      update();
      ++steps_done_;
    }
    double loss = 0;
    const popdist::Tensors losses = losses_.dequeue();
    for (const float value : losses.get<float>("loss")) loss += value;
    context_.world().allReduceSum(std::span(&loss, 1));
    return loss / static_cast<double>(stepsPerEpoch() * samplesPerStep());
  }

  void accumulateGradient(int local) {
    Replica& replica = replicas_[static_cast<std::size_t>(local)];
    std::fill(replica.gradient.begin(), replica.gradient.end(), 0.0F);
    for (int micro = 0; micro < options_.accumulation; ++micro) {
      const popdist::Tensors* batch = training_.next(local);
      const Score score = network_.accumulateGradient(
          replica.parameters,
          {.features = batch->get<float>("image"), .labels = batch->get<std::int32_t>("label")},
          replica.gradient);
      losses_.enqueue("loss", static_cast<float>(score.loss_sum), local);
    }
  }

  /// Sums the gradients of all replicas of all instances on the Pod.
  void reduceGradients() {
    pod_.advanceCompute(network_.flopsPerSample() * options_.micro_batch * options_.accumulation);
    std::vector<float*> gradients;
    for (Replica& replica : replicas_) gradients.push_back(replica.gradient.data());
    pod_.allReduceSum(gradients, network_.parameterCount());
  }

  /// Every replica's weights, with the mean gradient of the whole batch. The rate falls linearly to zero at
  /// the end of the training.
  void update() {
    const std::size_t all = stepsPerEpoch() * static_cast<std::size_t>(options_.epochs);
    const SgdStep step{.learning_rate = options_.learning_rate.value_or(options_.model.learning_rate) *
                                        static_cast<float>(all - steps_done_) / static_cast<float>(all),
                       .momentum = options_.momentum,
                       .gradient_scale = 1.0F / static_cast<float>(samplesPerStep())};
    for (Replica& replica : replicas_)
      loops_.sgd(replica.parameters.data(), replica.velocity.data(), replica.gradient.data(),
                 replica.parameters.size(), step);
  }

  /// The accuracy on the whole test set; each replica scores its part.
  double testAccuracy() {
    std::int64_t correct = 0;
    test_.start();
    for (std::size_t local = 0; local < replicas_.size(); ++local) {
      const auto replica = static_cast<int>(local);
      while (const popdist::Tensors* batch = test_.next(replica))
        correct += correctOf(replicas_[local], *batch);
    }
    context_.world().allReduceSum(std::span(&correct, 1));
    return static_cast<double>(correct) / static_cast<double>(test_samples_);
  }

  /// Of the images that are there: they come first.
  std::int64_t correctOf(const Replica& replica, const popdist::Tensors& batch) {
    const auto weights = batch.get<float>(io::kWeightTensor);
    const auto images = static_cast<std::size_t>(std::count(weights.begin(), weights.end(), 1.0F));
    if (images == 0) return 0;
    return network_
        .evaluate(replica.parameters,
                  {.features = batch.get<float>("image").first(options_.model.inputs() * images),
                   .labels = batch.get<std::int32_t>("label").first(images)})
        .correct;
  }

  void report(int epoch, double loss, double seconds, popdist::SimulatedTime pod_time,
              popdist::SimulatedTime collective_time) {
    const double accuracy = testAccuracy();
    if (!isFirstInstance()) return;
    const auto steps = static_cast<double>(stepsPerEpoch());
    const double step_us = std::chrono::duration<double, std::micro>(pod_time).count() / steps;
    const double share =
        100.0 * static_cast<double>(collective_time.count()) / static_cast<double>(pod_time.count());
    std::printf(
        "epoch %d/%d: loss %.4f, test accuracy %.2f %%, %.0f samples/s; on %s: %.1f us per step, %.1f %% of "
        "it all-reduce\n",
        epoch + 1, options_.epochs, loss, 100.0 * accuracy,
        steps * static_cast<double>(samplesPerStep()) / seconds, pod_.system().c_str(), step_us, share);
    std::fflush(stdout);
  }

  /// The parameters as little-endian floats. Written beside the target first: a reader never sees half a
  /// model.
  void save() const {
    const std::string partial = options_.output_model + ".partial";
    const std::span<const float> weights = replicas_.front().parameters;
    std::ofstream file(partial, std::ios::binary);
    file.write(reinterpret_cast<const char*>(weights.data()),
               static_cast<std::streamsize>(weights.size_bytes()));
    file.close();
    if (!file) throw std::runtime_error("cannot write " + partial);
    std::filesystem::rename(partial, options_.output_model);
  }

  popdist::Context& context_;
  const TrainingOptions& options_;
  popdist::Pod pod_;
  Isa isa_;
  Network network_;
  Loops loops_;
  popdist::Shape image_;
  std::size_t test_samples_ = 0;
  io::Infeed training_;
  io::Infeed test_;
  io::Outfeed losses_;
  std::vector<Replica> replicas_;
  std::size_t steps_done_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const TrainingOptions options = parseOptions(argc, argv);
  // The momentum of a dead pixel's weights would end as denormals, with which many CPUs are slow.
  const popdist::FlushDenormals flush;
  try {
    Training(popdist::Context::fromEnvironment(), options).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what());
    return 1;
  }
}
