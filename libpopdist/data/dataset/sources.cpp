// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/sources.h"

#include <cstring>
#include <string>
#include <utility>

#include "libpopdist/data/dataset/description.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

/// Elements lie one after the other in each tensor.
class InMemory final : public AddressedSource {
 public:
  InMemory(Tensors tensors, Spec element, std::uint64_t elements)
      : AddressedSource(elements), tensors_(std::move(tensors)), spec_(std::move(element)) {
    for (std::size_t i = 0; i < spec_.size(); ++i)
      parts_.push_back({std::as_const(tensors_).at(i).bytes().data(), spec_[i].bytes()});
  }

  const Spec& spec() const override { return spec_; }

  bool read(const Pass&, std::uint64_t index, Row row) const override {
    if (!has(index)) return false;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      std::memcpy(row[i], parts_[i].start + index * parts_[i].bytes, parts_[i].bytes);
    return true;
  }

  std::string description() const override {
    return "tensors(" + std::to_string(elements()) + " elements: " + describeValues(tensors_) + ')';
  }

 private:
  struct Part {
    const std::byte* start;
    std::size_t bytes;  // one element's
  };

  Tensors tensors_;
  Spec spec_;
  std::vector<Part> parts_;
};

class OfUser final : public AddressedSource {
 public:
  OfUser(std::shared_ptr<const Source> source, Spec spec)
      : AddressedSource(source->size()), source_(std::move(source)), spec_(std::move(spec)) {}

  const Spec& spec() const override { return spec_; }

  bool read(const Pass&, std::uint64_t index, Row row) const override {
    if (!has(index)) return false;
    source_->read(index, TensorRefs(spec_, row));
    return true;
  }

  std::string description() const override {
    return "source(" + std::to_string(elements()) + " elements: " + textOf(spec_) + ')';
  }

 private:
  std::shared_ptr<const Source> source_;
  Spec spec_;
};

pop::Result<Spec> specOfSlices(const Spec& whole) {
  Spec element = whole;
  for (TensorSpec& tensor : element) {
    if (tensor.shape.empty()) {
      return pop::invalidArgument("the tensor " + textOf(tensor) +
                                  " is a scalar and has no slices: fromTensors() takes it as it is");
    }
    if (tensor.shape[0] != whole[0].shape[0]) {
      return pop::invalidArgument("the first dimensions, which count elements, differ: " + textOf(whole[0]) +
                                  " and " + textOf(tensor));
    }
    tensor.shape.erase(tensor.shape.begin());
  }
  return element;
}

}  // namespace

pop::Result<std::unique_ptr<const Node>> oneElement(Tensors tensors) {
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(tensors.spec(), "the element"));
  Spec element = tensors.spec();
  return std::unique_ptr<const Node>(std::make_unique<InMemory>(std::move(tensors), std::move(element), 1));
}

pop::Result<std::unique_ptr<const Node>> slicesOf(Tensors tensors) {
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(tensors.spec(), "the dataset"));
  POP_ASSIGN_OR_RETURN(Spec element, specOfSlices(tensors.spec()));
  const std::uint64_t elements = tensors.spec()[0].shape[0];
  return std::unique_ptr<const Node>(
      std::make_unique<InMemory>(std::move(tensors), std::move(element), elements));
}

pop::Result<std::unique_ptr<const Node>> elementsOf(std::shared_ptr<const Source> source) {
  if (!source) return pop::invalidArgument("no source");
  Spec element = source->spec();
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(element, "the source's element"));
  return std::unique_ptr<const Node>(std::make_unique<OfUser>(std::move(source), std::move(element)));
}

}  // namespace popdist::io
