// SPDX-License-Identifier: Apache-2.0
#include "data.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace {

namespace io = popdist::io;

void checkLabels(const io::Dataset& dataset, int classes) {
  popdist::Tensors sample(dataset.spec());
  for (std::uint64_t i = 0; dataset.read(0, i, sample); ++i) {
    const int label = sample.get<std::uint8_t>("label")[0];
    if (label < classes) continue;
    throw std::runtime_error("label " + std::to_string(label) + ": the network knows only classes 0 to " +
                             std::to_string(classes - 1));
  }
}

/// Images and labels come first, as in readPart.
void toFloats(popdist::ConstTensorRefs from, popdist::TensorRefs to) {
  const auto bytes = from.get<std::uint8_t>(0);
  const auto labels = from.get<std::uint8_t>(1);
  std::transform(bytes.begin(), bytes.end(), to.get<float>(0).begin(),
                 [](std::uint8_t byte) { return static_cast<float>(byte) / 255.0F; });
  std::copy(labels.begin(), labels.end(), to.get<std::int32_t>(1).begin());
  if (from.size() < 3) return;
  const auto weights = from.get<float>(2);
  std::copy(weights.begin(), weights.end(), to.get<float>(2).begin());
}

}  // namespace

io::Dataset readPart(const std::string& directory, const std::string& part, int classes) {
  const std::string path = directory + "/" + part;
  io::Dataset dataset = io::Dataset::idx(
      {{"image", path + "-images-idx3-ubyte.gz"}, {"label", path + "-labels-idx1-ubyte.gz"}});
  checkLabels(dataset, classes);
  return dataset;
}

io::Infeed feedReplicas(const popdist::Context& context, io::Dataset batches) {
  popdist::Spec on_device = batches.spec();
  on_device.at(0).type = popdist::Type::kFloat;
  on_device.at(1).type = popdist::Type::kInt32;
  return io::Infeed(
      std::move(batches).forReplicas(io::InputContext::of(context)),
      {.replicas = context.numLocalReplicas(), .device_map = io::DeviceMap{std::move(on_device), toFloats}});
}
