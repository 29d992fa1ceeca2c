// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace {

namespace train = popdist::train;

/// In [0, 1), a function of both numbers: SplitMix64.
double uniform(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

std::uint8_t draw(std::span<const float> scores, double temperature, double at) {
  const auto likeliest = std::max_element(scores.begin(), scores.end());
  std::size_t chosen = static_cast<std::size_t>(likeliest - scores.begin());
  if (temperature <= 0) return static_cast<std::uint8_t>(chosen);
  std::vector<double> sums;
  double sum = 0;
  for (const float score : scores)
    sums.push_back(sum +=
                   std::exp((static_cast<double>(score) - static_cast<double>(*likeliest)) / temperature));
  chosen = static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), at * sum) - sums.begin());
  return static_cast<std::uint8_t>(std::min(chosen, scores.size() - 1));
}

}  // namespace

std::vector<std::uint8_t> write(const Transformer& model, popdist::ConstTensorRefs parameters,
                                std::vector<std::uint8_t> beginning, const WriterOptions& options) {
  const std::size_t context = model.shape().context;
  train::Pipeline pipeline({.stages = model.writingStages(),
                            .parameters = model.parameters().spec(),
                            .arguments = {{"text", popdist::Type::kUint8, {1, context + 1}},
                                          {"length", popdist::Type::kInt32, {}}},
                            .schedule = train::ScheduleKind::kSequential});
  popdist::Tensors arguments(pipeline.options().arguments);
  popdist::io::Outfeed outfeed({.buffer_depth = 1});
  std::vector<std::uint8_t> text = std::move(beginning);
  const std::size_t written = text.size();
  for (std::size_t i = 0; i < options.count; ++i) {
    const std::size_t length = std::min(context, text.size());
    std::copy(text.end() - static_cast<std::ptrdiff_t>(length), text.end(),
              arguments.get<std::uint8_t>("text").begin());
    arguments.get<std::int32_t>("length")[0] = static_cast<std::int32_t>(length);
    pipeline.evaluate(parameters, {.outfeed = &outfeed, .arguments = &arguments}, 1);
    const popdist::Tensors scores = outfeed.dequeue();
    text.push_back(draw(scores.get<float>("scores"), options.temperature, uniform(options.seed, i)));
  }
  text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(written));
  return text;
}
