// SPDX-License-Identifier: Apache-2.0
// Named arrays of any element type and a fixed shape: what datasets, infeeds, outfeeds and loops carry.
//
//   Tensors batch({Tensor::of<float>("image", {2, 3}, {1, 2, 3, 4, 5, 6}), Tensor::full("label", {2}, 7)});
//   batch.get<float>("image")[5] == 6; batch.get<int>(1)[0] == 7
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/types.hpp"

namespace popdist {

/// Sizes of the dimensions, outermost first; elements lie row-major. {} is a scalar: one element.
using Shape = std::vector<std::size_t>;

/// The product of all dimensions.
std::size_t elementsOf(const Shape& shape);

/// "[60000, 28, 28]"; "[]" for a scalar.
std::string textOf(const Shape& shape);

/// A tensor's description, without its contents.
struct TensorSpec {
  std::string name{};
  Type type = Type::kFloat;
  Shape shape{};

  std::size_t elements() const { return elementsOf(shape); }
  std::size_t bytes() const { return elements() * sizeOf(type); }

  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// Several tensors that travel together, in their order.
using Spec = std::vector<TensorSpec>;

/// "image: uint8 [28, 28]"; of several, joined by ", ".
std::string textOf(const TensorSpec& tensor);
std::string textOf(const Spec& tensors);

namespace tensor_detail {

/// Throws popdist_error kInvalidArgument naming the tensor, its type and `type`.
void checkType(const TensorSpec& tensor, Type type);
/// The position of the tensor `name`; throws popdist_error kNotFound with the names that there are.
std::size_t positionOf(const Spec& tensors, std::string_view name);
/// Throws popdist_error kOutOfRange when there is no tensor at `position`.
void checkPosition(const Spec& tensors, std::size_t position);

struct Free {
  void operator()(std::byte* memory) const noexcept;
};
using Memory = std::unique_ptr<std::byte, Free>;

}  // namespace tensor_detail

/// Access to the tensors of one element, batch or result of another owner; as cheap to copy as two pointers.
/// Valid as long as its owner says. `Byte` is std::byte, or const std::byte where only reading is allowed.
template <typename Byte>
class BasicTensorRefs {
 public:
  template <typename T>
  using Access = std::conditional_t<std::is_const_v<Byte>, const T, T>;

  /// `data` is one address for each tensor of `spec`; both must outlive this.
  BasicTensorRefs(const Spec& spec, Byte* const* data) : spec_(&spec), data_(data) {}

  /// For reading: from a BasicTensorRefs<std::byte>.
  template <typename Other>
  requires(std::is_const_v<Byte> && !std::is_const_v<Other>)
      BasicTensorRefs(const BasicTensorRefs<Other>& other)
      : spec_(&other.spec()), data_(other.data()) {}

  const Spec& spec() const { return *spec_; }
  std::size_t size() const { return spec_->size(); }  ///< tensors
  Byte* const* data() const { return data_; }

  /// The elements of a tensor, row-major, all its dimensions' product of them. By position it costs two
  /// comparisons; by name it compares names. Throws popdist_error kNotFound (no such name; lists those there
  /// are), kOutOfRange (no such position), kInvalidArgument (the tensor has another element type than T).
  template <typename T>
  std::span<Access<T>> get(std::size_t position) const {
    tensor_detail::checkPosition(*spec_, position);
    const TensorSpec& tensor = (*spec_)[position];
    tensor_detail::checkType(tensor, typeOf<T>());
    return {reinterpret_cast<Access<T>*>(data_[position]), tensor.elements()};
  }
  template <typename T>
  std::span<Access<T>> get(std::string_view name) const {
    return get<T>(tensor_detail::positionOf(*spec_, name));
  }

  /// A tensor's bytes, whatever its type.
  std::span<Byte> bytes(std::size_t position) const {
    tensor_detail::checkPosition(*spec_, position);
    return {data_[position], (*spec_)[position].bytes()};
  }

  const Shape& shape(std::string_view name) const {
    return (*spec_)[tensor_detail::positionOf(*spec_, name)].shape;
  }

 private:
  const Spec* spec_;
  Byte* const* data_;
};

using TensorRefs = BasicTensorRefs<std::byte>;
using ConstTensorRefs = BasicTensorRefs<const std::byte>;

/// Owns one named array, aligned to 64 bytes. Not copied by accident: see clone().
class Tensor {
 public:
  /// Zeros. Throws popdist_error kInvalidArgument for an empty name, or a shape whose size overflows;
  /// kResourceExhausted when there is no memory for it.
  explicit Tensor(TensorSpec spec);

  /// Every element is `value`.
  template <typename T>
  static Tensor full(std::string name, Shape shape, T value) {
    Tensor tensor({std::move(name), typeOf<T>(), std::move(shape)});
    for (T& element : tensor.as<T>()) element = value;
    return tensor;
  }

  /// A copy of `values`: as many as the shape has elements, else it throws popdist_error kInvalidArgument.
  template <typename T>
  static Tensor of(std::string name, Shape shape, std::span<const T> values) {
    Tensor tensor({std::move(name), typeOf<T>(), std::move(shape)});
    tensor.assign(std::as_bytes(values), values.size());
    return tensor;
  }
  template <typename T>
  static Tensor of(std::string name, Shape shape, std::initializer_list<T> values) {
    return of<T>(std::move(name), std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor of(std::string name, Shape shape, const std::vector<T>& values) {
    return of<T>(std::move(name), std::move(shape), std::span<const T>(values));
  }

  Tensor clone() const;

  const TensorSpec& spec() const { return spec_; }
  std::span<std::byte> bytes() { return {memory_.get(), spec_.bytes()}; }
  std::span<const std::byte> bytes() const { return {memory_.get(), spec_.bytes()}; }

  /// Its elements; throws popdist_error kInvalidArgument if T is not its element type.
  template <typename T>
  std::span<T> as() {
    tensor_detail::checkType(spec_, typeOf<T>());
    return {reinterpret_cast<T*>(memory_.get()), spec_.elements()};
  }
  template <typename T>
  std::span<const T> as() const {
    tensor_detail::checkType(spec_, typeOf<T>());
    return {reinterpret_cast<const T*>(memory_.get()), spec_.elements()};
  }

 private:
  void assign(std::span<const std::byte> values, std::size_t elements);

  TensorSpec spec_;
  tensor_detail::Memory memory_;
};

/// Owns several tensors of different names.
class Tensors {
 public:
  Tensors() = default;
  /// Throws popdist_error kInvalidArgument if two have the same name.
  explicit Tensors(std::vector<Tensor> tensors);
  template <typename... Rest>
  requires(std::is_same_v<Rest, Tensor>&&...) explicit Tensors(Tensor first, Rest... rest)
      : Tensors(gather(std::move(first), std::move(rest)...)) {}

  /// Zeros, of these names, types and shapes. Throws as Tensor does.
  explicit Tensors(const Spec& spec);

  Tensors clone() const;

  const Spec& spec() const { return spec_; }
  std::size_t size() const { return tensors_.size(); }
  Tensor& at(std::size_t position) { return tensors_.at(position); }
  const Tensor& at(std::size_t position) const { return tensors_.at(position); }
  /// Throws popdist_error kNotFound with the names that there are.
  Tensor& operator[](std::string_view name) { return tensors_[tensor_detail::positionOf(spec_, name)]; }
  const Tensor& operator[](std::string_view name) const {
    return tensors_[tensor_detail::positionOf(spec_, name)];
  }

  /// As in BasicTensorRefs.
  template <typename T>
  std::span<T> get(std::size_t position) {
    return refs().get<T>(position);
  }
  template <typename T>
  std::span<T> get(std::string_view name) {
    return refs().get<T>(name);
  }
  template <typename T>
  std::span<const T> get(std::size_t position) const {
    return refs().get<T>(position);
  }
  template <typename T>
  std::span<const T> get(std::string_view name) const {
    return refs().get<T>(name);
  }

  /// Valid until this is moved from, assigned to or destroyed.
  TensorRefs refs() { return {spec_, data_.data()}; }
  ConstTensorRefs refs() const { return TensorRefs{spec_, data_.data()}; }
  operator ConstTensorRefs() const { return refs(); }

 private:
  template <typename... All>
  static std::vector<Tensor> gather(All... all) {
    std::vector<Tensor> tensors;
    (tensors.push_back(std::move(all)), ...);
    return tensors;
  }

  Spec spec_;
  std::vector<Tensor> tensors_;
  std::vector<std::byte*> data_;
};

}  // namespace popdist
