// SPDX-License-Identifier: Apache-2.0
// Data-parallel training with libpopdist, from start to end. Copy it.
//
//   poprun --num-instances 2 --num-replicas 4 fashion_mnist --epochs 3 --output-model model.bin
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
#include <memory>
#include <popdist/popdist.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "isa.h"
#include "mlp.h"
#include "options.h"

namespace {

namespace io = popdist::io;

/// Allocated in memory that this host's instances share: the Pod sums it in place.
using SharedFloats = std::vector<float, popdist::SharedAllocator<float>>;

/// One replica: its model, its optimiser state, its share of the data.
struct Replica {
  Mlp model;
  SharedFloats gradient;
  std::vector<float> velocity;
  io::Infeed training;
  io::Infeed test;
  io::Outfeed losses;
};

class Training {
 public:
  Training(popdist::Context& context, const TrainingOptions& options)
      : context_(context), options_(options), pod_(context), isa_(commonIsa()) {
    const auto training = std::make_shared<io::IdxDataset>(options.data + "/train-images-idx3-ubyte.gz",
                                                           options.data + "/train-labels-idx1-ubyte.gz");
    const auto test = std::make_shared<io::IdxDataset>(options.data + "/t10k-images-idx3-ubyte.gz",
                                                       options.data + "/t10k-labels-idx1-ubyte.gz");
    shape_.inputs = static_cast<int>(training->featureCount());
    checkData(*training, *test);
    checkStep(training->size());
    test_samples_ = test->size();
    for (int local = 0; local < pod_.numLocalReplicas(); ++local)
      addReplica(pod_.firstReplica() + local, training, test);
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
    return replicas_.front().training.stepsPerEpoch() / static_cast<std::size_t>(options_.accumulation);
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

  /// Checks what the network relies on.
  void checkData(const io::IdxDataset& training, const io::IdxDataset& test) const {
    if (test.featureCount() != training.featureCount()) {
      throw std::runtime_error("training and test images differ in size");
    }
    for (const io::IdxDataset* dataset : {&training, &test}) {
      const int highest = *std::max_element(dataset->labels().begin(), dataset->labels().end());
      if (highest < shape_.classes) continue;
      throw std::runtime_error("label " + std::to_string(highest) + ": the network knows only classes 0 to " +
                               std::to_string(shape_.classes - 1));
    }
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

  void addReplica(int replica, const std::shared_ptr<io::IdxDataset>& training,
                  const std::shared_ptr<io::IdxDataset>& test) {
    const io::InfeedOptions shard{.replica = replica,
                                  .replicas = pod_.numReplicas(),
                                  .batch_size = static_cast<std::size_t>(options_.micro_batch),
                                  .seed = options_.seed};
    io::InfeedOptions test_shard = shard;
    test_shard.batch_size = 250;
    test_shard.sharding = io::Sharding::kEvaluation;
    io::Infeed infeed(training, shard);
    const std::size_t losses = infeed.stepsPerEpoch();
    replicas_.push_back(
        {.model = Mlp(shape_, kernelsOf(isa_)),
         .gradient = SharedFloats(shape_.parameterCount(), popdist::SharedAllocator<float>(context_)),
         .velocity = std::vector<float>(shape_.parameterCount()),
         .training = std::move(infeed),
         .test = io::Infeed(test, test_shard),
         .losses = io::Outfeed({.capacity = losses})});
  }

  /// Instance 0 draws them; everybody else gets them over the host.
  void broadcastInitialWeights() {
    Mlp initial(shape_, kernelsOf(isa_));
    if (isFirstInstance()) initial.initialise(options_.seed);
    context_.world().broadcast(initial.parameters(), 0);
    for (Replica& replica : replicas_) replica.model = initial;
  }

  /// Returns the mean loss of a sample, over all replicas.
  double trainEpoch(std::uint64_t epoch) {
    for (Replica& replica : replicas_) replica.training.startEpoch(epoch);
    for (std::size_t step = 0; step < stepsPerEpoch(); ++step) {
      for (Replica& replica : replicas_) accumulateGradient(replica);
      reduceGradients();
      const SgdStep update = sgdStep();
      for (Replica& replica : replicas_) replica.model.update(replica.gradient, replica.velocity, update);
      ++steps_done_;
    }
    double loss = 0;
    for (Replica& replica : replicas_) {
      for (const float value : replica.losses.dequeueAll()) loss += value;
    }
    context_.world().allReduceSum(std::span(&loss, 1));
    return loss / static_cast<double>(stepsPerEpoch() * samplesPerStep());
  }

  void accumulateGradient(Replica& replica) {
    std::fill(replica.gradient.begin(), replica.gradient.end(), 0.0F);
    for (int micro = 0; micro < options_.accumulation; ++micro) {
      const io::Batch* batch = replica.training.next();
      const Score score = replica.model.accumulateGradient(batch->features, batch->labels, replica.gradient);
      replica.losses.enqueue(static_cast<float>(score.loss_sum));
    }
  }

  /// Sums the gradients of all replicas of all instances on the Pod.
  void reduceGradients() {
    pod_.advanceCompute(shape_.flopsPerSample() * options_.micro_batch * options_.accumulation);
    std::vector<float*> gradients;
    for (Replica& replica : replicas_) gradients.push_back(replica.gradient.data());
    pod_.allReduceSum(gradients, shape_.parameterCount());
  }

  /// Updates the weights with the mean gradient of the whole batch. The rate falls linearly to zero at the
  /// end of the training.
  SgdStep sgdStep() const {
    const std::size_t all = stepsPerEpoch() * static_cast<std::size_t>(options_.epochs);
    return {.learning_rate =
                options_.learning_rate * static_cast<float>(all - steps_done_) / static_cast<float>(all),
            .momentum = options_.momentum,
            .gradient_scale = 1.0F / static_cast<float>(samplesPerStep())};
  }

  /// The accuracy on the whole test set; each replica scores its part.
  double testAccuracy() {
    std::int64_t correct = 0;
    for (Replica& replica : replicas_) {
      replica.test.startEpoch(0);
      while (const io::Batch* batch = replica.test.next()) {
        correct += replica.model.evaluate(batch->features, batch->labels).correct;
      }
    }
    context_.world().allReduceSum(std::span(&correct, 1));
    return static_cast<double>(correct) / static_cast<double>(test_samples_);
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
    const std::span<const float> weights = replicas_.front().model.parameters();
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
  MlpShape shape_;
  std::size_t test_samples_ = 0;
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
