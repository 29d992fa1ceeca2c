// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <algorithm>

#include "products.h"

namespace {

namespace train = popdist::train;
using popdist::Type;
using train::Io;

constexpr double kSpread = 0.02;  // of weights, as GPT-2's

// Positions of saved tensors.
enum Saved : int {
  kNorm1,
  kStatistics1,
  kQkv,
  kProbabilities,
  kMixed,
  kMiddle,
  kNorm2,
  kStatistics2,
  kHidden,
  kActive
};

std::vector<train::Saved> savedBy(const AttentionShape& shape) {
  const std::size_t rows = shape.rows();
  const std::size_t width = shape.width;
  return {{{"norm1", Type::kFloat, {rows, width}}},
          {{"statistics1", Type::kFloat, {rows, 2}}},
          {{"qkv", Type::kFloat, {rows, 3 * width}}},
          {{"probabilities", Type::kFloat, {shape.probabilities()}}},
          {{"mixed", Type::kFloat, {rows, width}}},
          {{"middle", Type::kFloat, {rows, width}}},
          {{"norm2", Type::kFloat, {rows, width}}},
          {{"statistics2", Type::kFloat, {rows, 2}}},
          {{"hidden", Type::kFloat, {rows, 4 * width}}},
          {{"active", Type::kFloat, {rows, 4 * width}}}};
}

/// y = x w + b
void linear(Io& io, const Linear& layer, const Loops& loops, std::span<const float> x, std::span<float> y) {
  const std::size_t outputs = io.par(layer.bias).size();
  const std::size_t rows = y.size() / outputs;
  multiply({.rows = static_cast<int>(rows),
            .columns = static_cast<int>(outputs),
            .inner = static_cast<int>(x.size() / rows)},
           x.data(), io.par(layer.weight).data(), y.data());
  loops.addBias(y.data(), io.par(layer.bias).data(), rows, outputs);
}

/// Adds the parameters' gradients; d_x is written.
void linearBackward(Io& io, const Linear& layer, const Loops& loops, std::span<const float> x,
                    std::span<const float> d_y, std::span<float> d_x) {
  const std::size_t outputs = io.par(layer.bias).size();
  const std::size_t rows = d_y.size() / outputs;
  const int inputs = static_cast<int>(x.size() / rows);
  multiply({.rows = inputs,
            .columns = static_cast<int>(outputs),
            .inner = static_cast<int>(rows),
            .a = Transposed::kYes,
            .adds = true},
           x.data(), d_y.data(), io.gradPar(layer.weight).data());
  loops.addColumnSums(io.gradPar(layer.bias).data(), d_y.data(), rows, outputs);
  multiply({.rows = static_cast<int>(rows),
            .columns = inputs,
            .inner = static_cast<int>(outputs),
            .b = Transposed::kYes},
           d_y.data(), io.par(layer.weight).data(), d_x.data());
}

void copy(std::span<const float> from, std::span<float> to) {
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

TransformerBlock::TransformerBlock(const std::string& name, std::size_t width, double residual_spread,
                                   train::Parameters& parameters)
    : width_(width) {
  const auto norm = [&](const std::string& which) {
    return Linear{parameters.add(name + which + ".gain", {width}, train::constant(1)),
                  parameters.add(name + which + ".bias", {width})};
  };
  const auto dense = [&](const std::string& which, std::size_t inputs, std::size_t outputs, double spread) {
    return Linear{parameters.add(name + which + ".weight", {inputs, outputs}, train::normal(0, spread)),
                  parameters.add(name + which + ".bias", {outputs})};
  };
  norm1_ = norm(".norm1");
  qkv_ = dense(".qkv", width, 3 * width, kSpread);
  mix_ = dense(".mix", width, width, residual_spread);
  norm2_ = norm(".norm2");
  up_ = dense(".up", width, 4 * width, kSpread);
  down_ = dense(".down", 4 * width, width, residual_spread);
}

std::vector<std::size_t> TransformerBlock::parameters() const {
  std::vector<std::size_t> positions;
  for (const Linear& each : {norm1_, qkv_, mix_, norm2_, up_, down_}) {
    positions.push_back(each.weight);
    positions.push_back(each.bias);
  }
  return positions;
}

struct TransformerBlock::Forward {
  TransformerBlock block;
  AttentionShape shape;
  Loops loops;
  SequenceLoops sequence;

  void normalise(Io& io, const Linear& norm, std::span<const float> x, Saved to, Saved statistics) const {
    sequence.layerNorm(x.data(), io.par(norm.weight).data(), io.par(norm.bias).data(), shape.rows(),
                       shape.width, io.saved(static_cast<int>(to)).data(),
                       io.saved(static_cast<int>(statistics)).data());
  }
  /// y = x w + b + added
  void addLinear(Io& io, const Linear& layer, Saved x, std::span<const float> added,
                 std::span<float> y) const {
    linear(io, layer, loops, io.saved(static_cast<int>(x)), y);
    sequence.add(y.data(), added.data(), y.size());
  }

  void operator()(Io& io) const {
    const auto x = io.in("x");
    const auto middle = io.saved(kMiddle);
    normalise(io, block.norm1_, x, kNorm1, kStatistics1);
    linear(io, block.qkv_, loops, io.saved(kNorm1), io.saved(kQkv));
    attention(shape, sequence, io.saved(kQkv).data(), io.saved(kProbabilities).data(),
              io.saved(kMixed).data());
    addLinear(io, block.mix_, kMixed, x, middle);
    normalise(io, block.norm2_, middle, kNorm2, kStatistics2);
    linear(io, block.up_, loops, io.saved(kNorm2), io.saved(kHidden));
    sequence.gelu(io.saved(kHidden).data(), io.saved(kHidden).size(), io.saved(kActive).data());
    addLinear(io, block.down_, kActive, middle, io.out("x"));
    const auto text = io.in<std::uint8_t>("text");
    std::copy(text.begin(), text.end(), io.out<std::uint8_t>("text").begin());
  }
};

struct TransformerBlock::Backward {
  explicit Backward(const Forward& forward)
      : of(forward),
        narrow(of.shape.rows() * of.shape.width),
        d_middle(narrow.size()),
        wide(4 * narrow.size()),
        d_qkv(3 * narrow.size()),
        scores(of.shape.context * of.shape.context) {}

  /// Adds to d_x what the norm's output has as its gradient, which is in `narrow`.
  void normaliseBackward(Io& io, const Linear& norm, std::span<const float> x, Saved statistics, float* d_x) {
    of.sequence.layerNormBackward(
        x.data(), io.par(norm.weight).data(), io.saved(static_cast<int>(statistics)).data(), narrow.data(),
        of.shape.rows(), of.shape.width, d_x, io.gradPar(norm.weight).data(), io.gradPar(norm.bias).data());
  }

  void operator()(Io& io) {
    const TransformerBlock& block = of.block;
    const auto d_y = io.gradOut("x");
    linearBackward(io, block.down_, of.loops, io.saved(kActive), d_y, wide);
    of.sequence.geluBackward(io.saved(kHidden).data(), wide.size(), wide.data());
    linearBackward(io, block.up_, of.loops, io.saved(kNorm2), wide, narrow);
    copy(d_y, d_middle);
    normaliseBackward(io, block.norm2_, io.saved(kMiddle), kStatistics2, d_middle.data());
    linearBackward(io, block.mix_, of.loops, io.saved(kMixed), d_middle, narrow);
    attentionBackward(of.shape, of.sequence, io.saved(kQkv).data(), io.saved(kProbabilities).data(),
                      narrow.data(), scores.data(), d_qkv.data());
    linearBackward(io, block.qkv_, of.loops, io.saved(kNorm1), d_qkv, narrow);
    const auto d_x = io.gradIn("x");
    copy(d_middle, d_x);
    normaliseBackward(io, block.norm1_, io.in("x"), kStatistics1, d_x.data());
  }

  Forward of;
  std::vector<float> narrow, d_middle, wide, d_qkv, scores;
};

train::Segment TransformerBlock::segment(const AttentionShape& shape, const popdist::TensorSpec& text,
                                         Isa isa, bool training) const {
  const Forward forward{*this, shape, loopsOf(isa), sequenceLoopsOf(isa)};
  train::Segment segment{.outputs = {{"x", Type::kFloat, {shape.rows(), width_}}, text},
                         .saved = savedBy(shape),
                         .forward = forward};
  if (training) segment.backward = Backward(forward);
  return segment;
}
