// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/saved_state.h"

#include <charconv>
#include <string>

#include "common/base/text.h"
#include "libpopdist/train/trainer/denormals_in_force.h"

namespace popdist::train {
namespace {

constexpr const char* kReplicas = "trainer.replicas";
constexpr const char* kAccumulation = "trainer.accumulation_count";
constexpr const char* kSamples = "trainer.micro_batch_samples";
constexpr const char* kDenormals = "trainer.denormals";
const std::string kRule = "trainer.rules.";  // and the fact's name
constexpr const char* kUpdatesDone = "trainer.updates_done";
constexpr const char* kLossScale = "trainer.loss_scale";
constexpr const char* kGoodUpdates = "trainer.loss_scale_good_updates";

pop::Result<std::string> textAt(const Position& position, const char* name) {
  const auto found = position.values.find(name);
  if (found == position.values.end())
    return pop::Status(pop::Code::kDataLoss, "the checkpoint of step " + std::to_string(position.step) +
                                                 " has no value " + pop::inQuotes(name) +
                                                 ": it was not made by a trainer");
  return found->second;
}

template <typename Number>
pop::Result<Number> numberAt(const Position& position, const char* name) {
  POP_ASSIGN_OR_RETURN(const std::string text, textAt(position, name));
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return pop::Status(pop::Code::kDataLoss, "the checkpoint's value " + pop::inQuotes(name) + " is " +
                                                 pop::inQuotes(text) + ", no number");
  return number;
}

pop::Status differs(const std::string& what, const std::string& then, const std::string& now) {
  return {pop::Code::kFailedPrecondition,
          "the checkpoint was made with " + what + ' ' + then + ", this training has " + now +
              ": its results would differ; ResumeOptions::exactly = false "
              "goes on all the same, where the samples that the epoch has used "
              "are whole micro-batches"};
}

pop::Status checkSame(const Position& position, const Setting& setting) {
  const std::pair<const char*, std::uint64_t> numbers[] = {
      {kReplicas, static_cast<std::uint64_t>(setting.replicas)},
      {kAccumulation, static_cast<std::uint64_t>(setting.accumulation)},
      {kSamples, setting.samples}};
  for (const auto& [name, now] : numbers) {
    POP_ASSIGN_OR_RETURN(const auto then, numberAt<std::uint64_t>(position, name));
    if (then != now) return differs(std::string(name).substr(8), std::to_string(then), std::to_string(now));
  }
  POP_ASSIGN_OR_RETURN(const std::string then, textAt(position, kDenormals));
  const std::string now = denormalsInForce().text;
  if (then != now) return differs("denormals", then, now);
  for (const Fact& rule : setting.rules) {
    const auto saved = position.values.find(kRule + rule.name);
    if (saved != position.values.end() && saved->second != rule.text)
      return differs(rule.name, pop::inQuotes(saved->second), pop::inQuotes(rule.text));
  }
  return pop::Status();
}

pop::Status noWholeBatches(std::uint64_t samples, const Setting& setting) {
  const auto replicas = static_cast<std::uint64_t>(setting.replicas);
  std::uint64_t fits = setting.samples;
  while (samples % (fits * replicas) != 0 && fits > 1) --fits;
  const std::string advice = samples % (fits * replicas) == 0
                                 ? "a micro-batch of " + std::to_string(fits) + " fits"
                                 : "no micro-batch fits so many replicas";
  return {pop::Code::kFailedPrecondition, "the checkpoint's epoch has used " + std::to_string(samples) +
                                              " samples, which are no whole micro-batches of " +
                                              std::to_string(setting.samples) + " on " +
                                              pop::counted(setting.replicas, "replica") + ": " + advice};
}

}  // namespace

std::uint64_t samplesOf(const Spec& micro_batch) {
  return micro_batch.empty() || micro_batch.front().shape.empty() ? 1 : micro_batch.front().shape.front();
}

Position positionOf(const SavedState& state, const Setting& setting) {
  Position position{
      .step = state.runs,
      .epoch = state.data.epoch,
      .samples = state.data.step * setting.samples * static_cast<std::uint64_t>(setting.replicas),
      .seed = 0,
      .values = {{kReplicas, std::to_string(setting.replicas)},
                 {kAccumulation, std::to_string(setting.accumulation)},
                 {kSamples, std::to_string(setting.samples)},
                 {kDenormals, denormalsInForce().text},
                 {kUpdatesDone, std::to_string(state.updates_done)},
                 {kLossScale, pop::numberText(state.loss_scale)},
                 {kGoodUpdates, std::to_string(state.good_updates)}}};
  for (const Fact& rule : setting.rules) position.values.emplace(kRule + rule.name, rule.text);
  return position;
}

pop::Result<SavedState> stateAt(const Position& position, const Setting& setting, bool exactly) {
  if (exactly) POP_RETURN_IF_ERROR(checkSame(position, setting));
  SavedState state{.runs = position.step};
  POP_ASSIGN_OR_RETURN(state.updates_done, numberAt<std::uint64_t>(position, kUpdatesDone));
  POP_ASSIGN_OR_RETURN(state.loss_scale, numberAt<double>(position, kLossScale));
  POP_ASSIGN_OR_RETURN(state.good_updates, numberAt<std::uint64_t>(position, kGoodUpdates));
  const std::uint64_t step_samples = setting.samples * static_cast<std::uint64_t>(setting.replicas);
  if (position.samples % step_samples != 0) return noWholeBatches(position.samples, setting);
  state.data = {.epoch = position.epoch, .step = position.samples / step_samples};
  return state;
}

std::vector<Piece> piecesOf(FlatTensors& tensors) {
  const TensorRefs refs = tensors.refs();
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < tensors.spec().size(); ++i) {
    const TensorSpec& spec = tensors.spec()[i];
    pieces.push_back({.name = spec.name, .type = spec.type, .shape = spec.shape, .bytes = refs.bytes(i)});
  }
  return pieces;
}

}  // namespace popdist::train
