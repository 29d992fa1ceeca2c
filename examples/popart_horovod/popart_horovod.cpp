// SPDX-License-Identifier: Apache-2.0
// PopART's example of Horovod: a classifier of one layer on synthetic data, trained by several processes.
//
//   horovodrun -np 2 -H localhost:2 popart_horovod        # one of poprun's names
//   poprun --num-instances 2 --num-replicas 2 popart_horovod
//
// Each process draws data and weights of its own; from broadcastWeights on all have the same weights.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <popdist/popart_horovod.hpp>
#include <random>
#include <utility>

namespace {

namespace hvd = popdist::hvd;
namespace io = popdist::io;
namespace popart = popdist::popart;
namespace train = popdist::train;
using popdist::Type;

constexpr std::size_t kBatch = 1;
constexpr std::size_t kInputs = 784;
constexpr std::size_t kClasses = 10;
constexpr int kBatchesPerStep = 32;
constexpr int kSteps = 10;

void multiplyAndAdd(const popart::Batch& batch) {
  const auto w = batch.weights.get<float>("w");
  const auto x = batch.input.get<float>("x");
  const auto output = batch.values.get<float>("output");
  const auto b = batch.weights.get<float>("b");
  std::copy(b.begin(), b.end(), output.begin());
  for (std::size_t i = 0; i < kInputs; ++i)
    for (std::size_t j = 0; j < kClasses; ++j) output[j] += x[i] * w[i * kClasses + j];
}

void multiplyAndAddBackward(const popart::Batch& batch) {
  const auto x = batch.input.get<float>("x");
  const auto d_output = batch.values.get<float>("d_output");
  const auto dw = batch.gradients.get<float>("w");
  const auto db = batch.gradients.get<float>("b");
  for (std::size_t i = 0; i < kInputs; ++i)
    for (std::size_t j = 0; j < kClasses; ++j) dw[i * kClasses + j] += x[i] * d_output[j];
  for (std::size_t j = 0; j < kClasses; ++j) db[j] += d_output[j];
}

/// Softmax, and the negative logarithm of the label's probability.
void loss(const popart::Batch& batch) {
  const auto output = batch.values.get<float>("output");
  const auto probabilities = batch.values.get<float>("probabilities");
  const float most = *std::max_element(output.begin(), output.end());
  float sum = 0;
  for (std::size_t j = 0; j < kClasses; ++j) sum += probabilities[j] = std::exp(output[j] - most);
  for (float& each : probabilities) each /= sum;
  const auto label = static_cast<std::size_t>(batch.input.get<std::int32_t>("label")[0]);
  batch.values.get<float>("loss")[0] = std::log(sum) + most - output[label];
}

void lossBackward(const popart::Batch& batch) {
  const auto probabilities = batch.values.get<float>("probabilities");
  const auto d_output = batch.values.get<float>("d_output");
  std::copy(probabilities.begin(), probabilities.end(), d_output.begin());
  d_output[static_cast<std::size_t>(batch.input.get<std::int32_t>("label")[0])] -= 1.0F;
}

popart::Model createModel() {
  popart::Model model;
  model.weights.add("w", {kInputs, kClasses}, train::normal(0, 1));
  model.weights.add("b", {kClasses}, train::normal(0, 1));
  model.values = {{"output", Type::kFloat, {kBatch, kClasses}},
                  {"probabilities", Type::kFloat, {kBatch, kClasses}},
                  {"d_output", Type::kFloat, {kBatch, kClasses}},
                  {"loss", Type::kFloat, {}}};
  model.stages = {{"dense", multiplyAndAdd, multiplyAndAddBackward}, {"loss", loss, lossBackward}};
  return model;
}

/// Normal data and zero labels: what a replica takes in a step, again and again.
io::Infeed syntheticData(const popdist::Context& context) {
  const std::size_t count = static_cast<std::size_t>(kBatchesPerStep * context.numLocalReplicas());
  popdist::Tensor x({"x", Type::kFloat, {count, kBatch, kInputs}});
  std::mt19937 random(static_cast<unsigned>(context.instanceIndex()));
  std::normal_distribution<float> normal;
  for (float& each : x.as<float>()) each = normal(random);
  popdist::Tensors data(std::move(x), popdist::Tensor::full("label", {count, kBatch}, std::int32_t{0}));
  return io::Infeed(io::Dataset::fromSlices(std::move(data)).repeat(),
                    {.replicas = context.numLocalReplicas()});
}

/// Equal for equal bits.
std::uint32_t fingerprint(popdist::ConstTensorRefs weights) {
  std::uint32_t hash = 2166136261U;
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (const std::byte byte : weights.bytes(i))
      hash = (hash ^ static_cast<std::uint32_t>(byte)) * 16777619U;
  return hash;
}

void run() {
  const auto context = hvd::init();
  const int rank = context->instanceIndex();
  const int replicas = context->numLocalReplicas();
  const popart::SessionOptions options{
      .host_all_reduce = true, .enable_replicated_graphs = replicas > 1, .replicated_graph_count = replicas};
  const popart::DataFlow data_flow{
      kBatchesPerStep,
      {{"output", popart::AnchorReturnType("All")}, {"loss", popart::AnchorReturnType("All")}}};
  popart::Session session(*context, createModel(), data_flow, options, popart::Mode::kTraining,
                          static_cast<std::uint64_t>(rank));
  popart::OptimizerValue rate(0.1, /*is_const=*/false);
  hvd::DistributedOptimizer optimizer(train::sgd(rate), session, options);
  optimizer.insertHostAllReduce();
  hvd::broadcastWeights(session, /*root_rank=*/0);

  io::Infeed infeed = syntheticData(*context);
  for (int step = 0; step < kSteps; ++step) {
    const popdist::Tensors anchors = session.run(infeed);
    double sum = 0;
    for (const float each : anchors.get<float>("loss")) sum += static_cast<double>(each);
    std::printf("rank %d of %d, step %d: mean loss %.4f, output %s\n", rank, context->numInstances(),
                step + 1, sum / static_cast<double>(anchors["loss"].spec().elements()),
                popdist::textOf(anchors["output"].spec().shape).c_str());
  }
  std::printf("rank %d: weights %08x\n", rank, fingerprint(session.weights()));
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) return std::fprintf(stderr, "popart_horovod takes no arguments\n"), 2;
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "popart_horovod: %s\n", error.what());
    return 1;
  }
}
