// SPDX-License-Identifier: Apache-2.0
// The parameters of a model: what they are called, how they begin, and memory for one value of each.
//
//   train::Parameters parameters;
//   const std::size_t weight = parameters.add("dense.w", {784, 128}, train::heUniform());
//   const std::size_t bias = parameters.add("dense.b", {128});
//   train::FlatTensors values(context, parameters.spec());
//   parameters.initialise(values.refs(), 42);
//   values.refs().get<float>(weight)[0]
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "popdist/buffer.hpp"
#include "popdist/cxx20.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

/// Initial values of a parameter.
struct InitialValues {
  enum class Kind : std::uint8_t {
    kConstant,  ///< `centre`
    kUniform,   ///< in [centre - spread, centre + spread)
    kNormal,    ///< mean `centre`, standard deviation `spread`
  };
  Kind kind = Kind::kConstant;
  double centre = 0;
  std::function<double(const Shape&)> spread{};  ///< for a parameter of this shape; not for constants
};

// Throw popdist_error kInvalidArgument for numbers that are not finite, a `high` below `low` and a deviation
// below 0.
InitialValues constant(double value);
InitialValues uniform(double low, double high);
InitialValues normal(double mean, double deviation);

/// By He et al. 2015, before ReLU: uniform in ±sqrt(6 / inputs), or normal with deviation sqrt(2 / inputs).
/// 0 inputs: all dimensions of the parameter but the last, as of a weight of [inputs, outputs].
InitialValues heUniform(std::size_t inputs = 0);
InitialValues heNormal(std::size_t inputs = 0);
/// By Glorot and Bengio 2010: uniform in ±sqrt(6 / (inputs + outputs)), of a weight of [..., inputs,
/// outputs].
InitialValues glorotUniform();

/// The named parameters of a model, in the order in which they were added. Declares them; FlatTensors holds
/// values.
class Parameters {
 public:
  /// Returns its position in spec(). Types: kFloat, kHalf, kBfloat16. Throws popdist_error
  /// kInvalidArgument: no name, a name that is there already, no element, another type, or initial values
  /// that the type cannot hold.
  std::size_t add(std::string name, Shape shape, InitialValues initial = constant(0),
                  Type type = Type::kFloat);

  const Spec& spec() const { return spec_; }
  std::size_t size() const { return spec_.size(); }
  std::size_t elements() const;  ///< sum over all tensors

  /// Sets `values`, which have the spec of these parameters. An element depends on (seed, its parameter's
  /// name, its position) alone, on machines with the same libm: broadcast them to be safe. Throws
  /// popdist_error kInvalidArgument for tensors of another spec.
  void initialise(TensorRefs values, std::uint64_t seed) const;

 private:
  Spec spec_;
  std::vector<InitialValues> initial_;
};

/// One value for each of several tensors (parameters, or their gradients, or an optimizer's state), in one
/// piece of memory that this host's instances share: a collective takes all of them at once. Each tensor
/// begins at a multiple of 64 bytes; bytes between tensors are 0 and stay so.
class FlatTensors {
 public:
  /// Zeros. Local, not collective. Throws popdist_error as Tensors and allocateShared do.
  FlatTensors(Context& context, Spec spec);

  const Spec& spec() const { return *spec_; }
  /// Valid as long as this lives; moving it keeps them valid.
  TensorRefs refs() { return {*spec_, data_.data()}; }
  ConstTensorRefs refs() const { return TensorRefs{*spec_, data_.data()}; }

  /// Bytes of tensors of this spec together: the offset of one more.
  static std::size_t bytesOf(std::span<const TensorSpec> spec);

  std::span<std::byte> bytes() { return {memory_.as<std::byte>(), memory_.bytes()}; }
  std::span<const std::byte> bytes() const { return {memory_.as<std::byte>(), memory_.bytes()}; }
  void setToZero();

  /// Tensors of one type that follow each other, with the bytes between them, as one array.
  struct Run {
    Type type = Type::kFloat;
    std::byte* data = nullptr;
    std::size_t elements = 0;
  };
  /// In order of the tensors; together all of bytes().
  std::vector<Run> runs() const;

 private:
  std::unique_ptr<const Spec> spec_;  // refs() point to it
  Buffer memory_;
  std::vector<std::byte*> data_;
};

}  // namespace popdist::train
