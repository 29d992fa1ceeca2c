// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/popart/anchors.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::popart {
namespace {

using Id = AnchorReturnType::Id;

constexpr std::pair<std::string_view, Id> kNames[] = {
    {"final", Id::kFinal}, {"everyn", Id::kEveryN}, {"all", Id::kAll}, {"sum", Id::kSum}};

pop::Result<Id> idNamed(std::string_view name) {
  for (const auto& [known, id] : kNames) {
    if (pop::lowerCase(name) == known) return id;
  }
  return pop::invalidArgument("there is no return type " + pop::inQuotes(name) +
                              ", expected Final, EveryN, All or Sum");
}

pop::Status checkPeriod(Id id, int period) {
  if (id == Id::kEveryN && period < 1)
    return pop::invalidArgument("EveryN has the period " + std::to_string(period) + ", expected 1 or more");
  if (id != Id::kEveryN && period != 0) return pop::invalidArgument("only EveryN has a period");
  return {};
}

/// The number of a replica's values that come back, by dimensions.
Shape valuesOf(const AnchorReturnType& type, const Counts& counts) {
  const auto batches = static_cast<std::size_t>(counts.batches);
  const auto accumulation = static_cast<std::size_t>(counts.accumulation);
  switch (type.id()) {
    case Id::kAll:
      return {batches, accumulation};
    case Id::kEveryN:
      return {batches / static_cast<std::size_t>(type.period()), accumulation};
    case Id::kFinal:
    case Id::kSum:
      break;
  }
  return {};
}

io::OutfeedOptions outfeedFor(const AnchorReturnType& type, const Counts& counts) {
  io::OutfeedOptions options{.replicas = counts.replicas, .buffer_depth = elementsOf(valuesOf(type, counts))};
  if (type.id() == Id::kSum)
    options.accumulate = io::OutfeedAccumulation{.steps = static_cast<std::uint64_t>(counts.batches) *
                                                          static_cast<std::uint64_t>(counts.accumulation)};
  return options;
}

/// The same elements.
Tensor reshaped(const Tensor& tensor, Shape shape) {
  Tensor result({tensor.spec().name, tensor.spec().type, std::move(shape)});
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), result.bytes().begin());
  return result;
}

}  // namespace

AnchorReturnType::AnchorReturnType(std::string_view name, int period) : id_(Id::kFinal), period_(period) {
  const pop::Result<Id> id = idNamed(name);
  throwIfError(id.status(), "AnchorReturnType");
  id_ = id.value();
  throwIfError(checkPeriod(id_, period), "AnchorReturnType");
}

pop::Status check(const DataFlow& data_flow, const Spec& values) {
  const int batches = data_flow.batches_per_step;
  if (batches < 1)
    return pop::invalidArgument("batches_per_step is " + std::to_string(batches) + ", expected 1 or more");
  for (const auto& [name, type] : data_flow.anchors) {
    const auto named = [&name = name](const TensorSpec& value) { return value.name == name; };
    const auto value = std::find_if(values.begin(), values.end(), named);
    if (value == values.end())
      return {pop::Code::kNotFound,
              "the anchor " + pop::inQuotes(name) + " is no value of the model, which has " + textOf(values)};
    if (type.id() == Id::kSum && sizeOf(value->type) == 1)
      return pop::invalidArgument("the anchor " + pop::inQuotes(name) + " is " + textOf(*value) +
                                  ", whose sums would soon wrap: make the model's value a float or int32");
    if (type.id() == Id::kEveryN && batches % type.period() != 0)
      return pop::invalidArgument(
          "the anchor " + pop::inQuotes(name) + " wants every batch number " + std::to_string(type.period()) +
          ", which does not divide batches_per_step (" + std::to_string(batches) + ")");
  }
  return {};
}

Anchors::Anchors(const DataFlow& data_flow, const Spec& values, const Counts& counts) : counts_(counts) {
  for (const auto& [name, type] : data_flow.anchors) {
    const std::size_t position = tensor_detail::positionOf(values, name);
    anchors_.push_back({type, position, {values[position]}, io::Outfeed(outfeedFor(type, counts))});
  }
}

bool Anchors::wants(const AnchorReturnType& type, int batch, int index) const {
  switch (type.id()) {
    case Id::kFinal:
      return batch + 1 == counts_.batches && index + 1 == counts_.accumulation;
    case Id::kEveryN:
      return (batch + 1) % type.period() == 0;
    case Id::kAll:
    case Id::kSum:
      break;
  }
  return true;
}

void Anchors::take(ConstTensorRefs values, int batch, int index, int replica) {
  for (Anchor& anchor : anchors_) {
    if (!wants(anchor.type, batch, index)) continue;
    const std::byte* const data = values.data()[anchor.position];
    anchor.outfeed.enqueue(ConstTensorRefs(anchor.spec, &data), replica);
  }
}

Tensors Anchors::result() {
  std::vector<Tensor> results;
  for (Anchor& anchor : anchors_) {
    Tensors sent = anchor.outfeed.dequeue();
    Shape shape = valuesOf(anchor.type, counts_);
    shape.push_back(static_cast<std::size_t>(counts_.replicas));
    shape.erase(std::remove(shape.begin(), shape.end(), 1U), shape.end());
    const Shape& own = anchor.spec.front().shape;
    shape.insert(shape.end(), own.begin(), own.end());
    // Synthetic data: nothing comes back.
    const bool is_there = sent.at(0).spec().elements() == elementsOf(shape);
    results.push_back(reshaped(sent.at(0), is_there ? std::move(shape) : sent.at(0).spec().shape));
  }
  return Tensors(std::move(results));
}

}  // namespace popdist::popart
