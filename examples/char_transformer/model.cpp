// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "products.h"

namespace {

namespace train = popdist::train;
using popdist::Type;
using train::Io;

constexpr double kEmbeddingSpread = 0.02;

}  // namespace

Transformer::Transformer(const TransformerShape& shape, Isa isa) : shape_(shape), isa_(isa) {
  if (shape.heads == 0 || shape.width % shape.heads != 0)
    throw std::runtime_error("a width of " + std::to_string(shape.width) + " is no multiple of " +
                             std::to_string(shape.heads) + " heads");
  if (shape.blocks < kStages)
    throw std::runtime_error(std::to_string(shape.blocks) + " blocks are fewer than the " +
                             std::to_string(kStages) + " stages");
  useInstructionSet(isa);
  const std::size_t width = shape.width;
  table_ =
      parameters_.add("embedding.characters", {shape.characters, width}, train::normal(0, kEmbeddingSpread));
  positions_ =
      parameters_.add("embedding.positions", {shape.context, width}, train::normal(0, kEmbeddingSpread));
  const double residual = kEmbeddingSpread / std::sqrt(2.0 * static_cast<double>(shape.blocks));
  for (std::size_t i = 0; i < shape.blocks; ++i)
    blocks_.emplace_back("block" + std::to_string(i), width, residual, parameters_);
  norm_ = {parameters_.add("head.norm.gain", {width}, train::constant(1)),
           parameters_.add("head.norm.bias", {width})};
  head_ = shape.tied
              ? table_
              : parameters_.add("head.weight", {shape.characters, width}, train::normal(0, kEmbeddingSpread));
}

AttentionShape Transformer::attentionShape(std::size_t samples) const {
  return {.samples = samples, .context = shape_.context, .heads = shape_.heads, .width = shape_.width};
}

popdist::TensorSpec Transformer::textSpec(std::size_t samples) const {
  return {"text", Type::kUint8, {samples, shape_.context + 1}};
}

train::Segment Transformer::embedding(std::size_t samples, bool training) const {
  const TextShape shape{samples, shape_.context, shape_.width};
  const auto table = table_;
  const auto positions = positions_;
  train::Segment segment{
      .outputs = {{"x", Type::kFloat, {samples * shape_.context, shape_.width}}, textSpec(samples)}};
  segment.forward = [=, loops = sequenceLoopsOf(isa_)](Io& io) {
    const auto text = io.in<std::uint8_t>("text");
    loops.embed(shape, text.data(), io.par(table).data(), io.par(positions).data(), io.out("x").data());
    std::copy(text.begin(), text.end(), io.out<std::uint8_t>("text").begin());
  };
  if (training)
    segment.backward = [=, loops = sequenceLoopsOf(isa_)](Io& io) {
      loops.embedBackward(shape, io.in<std::uint8_t>("text").data(), io.gradOut("x").data(),
                          io.gradPar(table).data(), io.gradPar(positions).data());
    };
  return segment;
}

/// A layer norm, then a product with the weights, which gives scores; their softmax are probabilities.
struct Transformer::Head {
  std::size_t samples, context, width, characters;
  Linear norm;
  std::size_t weight;
  Loops loops;
  SequenceLoops sequence;
  float factor;
  std::vector<float> d_scores, d_normal;

  enum Saved : int { kNormal, kStatistics, kScores };

  std::size_t rows() const { return samples * context; }

  std::vector<train::Saved> saved() const {
    return {{{"normal", Type::kFloat, {rows(), width}}},
            {{"statistics", Type::kFloat, {rows(), 2}}},
            {{"scores", Type::kFloat, {rows(), characters}}}};
  }

  void score(Io& io) const {
    sequence.layerNorm(io.in("x").data(), io.par(norm.weight).data(), io.par(norm.bias).data(), rows(), width,
                       io.saved(kNormal).data(), io.saved(kStatistics).data());
    multiply({.rows = static_cast<int>(rows()),
              .columns = static_cast<int>(characters),
              .inner = static_cast<int>(width),
              .b = Transposed::kYes},
             io.saved(kNormal).data(), io.par(weight).data(), io.saved(kScores).data());
  }

  /// The character after place `row` % context of sample `row` / context.
  std::size_t nextOf(std::span<const std::uint8_t> text, std::size_t row) const {
    return text[row / context * (context + 1) + row % context + 1];
  }

  void forward(Io& io) const {
    score(io);
    const auto probabilities = io.saved(kScores);
    loops.softmax(probabilities.data(), rows(), characters);
    const auto text = io.in<std::uint8_t>("text");
    float loss = 0;
    for (std::size_t row = 0; row < rows(); ++row)
      loss -= std::log(std::max(probabilities[row * characters + nextOf(text, row)], 1e-30F));
    io.out("loss")[0] = loss;
  }

  void write(Io& io) const {
    score(io);
    const auto last = static_cast<std::size_t>(io.argument<std::int32_t>("length")[0] - 1);
    const auto scores = io.saved(kScores).subspan(last * characters, characters);
    std::copy(scores.begin(), scores.end(), io.out("scores").begin());
  }

  void backward(Io& io) {
    const auto probabilities = io.saved(kScores);
    const auto text = io.in<std::uint8_t>("text");
    d_scores.assign(probabilities.begin(), probabilities.end());
    for (std::size_t row = 0; row < rows(); ++row) d_scores[row * characters + nextOf(text, row)] -= 1.0F;
    for (float& each : d_scores) each *= factor;
    d_normal.resize(rows() * width);
    multiply({.rows = static_cast<int>(characters),
              .columns = static_cast<int>(width),
              .inner = static_cast<int>(rows()),
              .a = Transposed::kYes,
              .adds = true},
             d_scores.data(), io.saved(kNormal).data(), io.gradPar(weight).data());
    multiply({.rows = static_cast<int>(rows()),
              .columns = static_cast<int>(width),
              .inner = static_cast<int>(characters)},
             d_scores.data(), io.par(weight).data(), d_normal.data());
    sequence.layerNormBackward(io.in("x").data(), io.par(norm.weight).data(), io.saved(kStatistics).data(),
                               d_normal.data(), rows(), width, io.gradIn("x").data(),
                               io.gradPar(norm.weight).data(), io.gradPar(norm.bias).data());
  }
};

std::vector<train::Concurrent> Transformer::stages(std::size_t samples, bool training, float factor) const {
  Head head{samples,
            shape_.context,
            shape_.width,
            shape_.characters,
            norm_,
            head_,
            loopsOf(isa_),
            sequenceLoopsOf(isa_),
            factor,
            {},
            {}};
  std::vector<train::Concurrent> result;
  for (std::size_t i = 0; i < kStages; ++i) {
    train::Stage stage{.name = "stage" + std::to_string(i)};
    if (i == 0) {
      stage.parameters = {table_, positions_};
      stage.segments.push_back(embedding(samples, training));
    }
    for (std::size_t block = firstBlockOf(i); block < firstBlockOf(i + 1); ++block) {
      const std::vector<std::size_t> positions = blocks_[block].parameters();
      stage.parameters.insert(stage.parameters.end(), positions.begin(), positions.end());
      stage.segments.push_back(
          blocks_[block].segment(attentionShape(samples), textSpec(samples), isa_, training));
    }
    if (i + 1 == kStages) {
      for (const std::size_t position : {norm_.weight, norm_.bias, head_})
        stage.parameters.push_back(position);
      train::Segment last{.saved = head.saved()};
      if (training) {
        last.outputs = {{"loss", Type::kFloat, {}}};
        last.forward = [head](Io& io) { head.forward(io); };
        last.backward = [head](Io& io) mutable { head.backward(io); };
      } else {
        last.outputs = {{"scores", Type::kFloat, {shape_.characters}}};
        last.forward = [head](Io& io) { head.write(io); };
      }
      stage.segments.push_back(std::move(last));
    }
    result.emplace_back(std::move(stage));
  }
  return result;
}

std::vector<train::Concurrent> Transformer::trainingStages(std::size_t samples, float factor) const {
  return stages(samples, true, factor);
}

std::vector<train::Concurrent> Transformer::writingStages() const {
  return stages(1, false, 0);
}

train::SimulationOptions Transformer::timesOfStages(std::size_t samples, double flops_per_s) const {
  train::SimulationOptions options;
  const auto width = static_cast<double>(shape_.width);
  const auto rows = static_cast<double>(samples * shape_.context);
  for (std::size_t i = 0; i < kStages; ++i) {
    const auto blocks = static_cast<double>(firstBlockOf(i + 1) - firstBlockOf(i));
    double products = blocks * (12 * width * width + 2 * width * static_cast<double>(shape_.context));
    if (i + 1 == kStages) products += width * static_cast<double>(shape_.characters);
    const auto forward =
        popdist::SimulatedTime(static_cast<std::int64_t>(2 * rows * products / flops_per_s * 1e12));
    options.stages.push_back({.forward = forward, .backward = 2 * forward});
  }
  return options;
}
