// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/element_steps.h"

#include <algorithm>
#include <string>
#include <utility>

#include "libpopdist/data/dataset/row_layout.h"

namespace popdist::io {
namespace {

bool hasWeights(const Spec& spec) {
  return std::any_of(spec.begin(), spec.end(),
                     [](const TensorSpec& tensor) { return tensor.name == kWeightTensor; });
}

class Mapped final : public Step {
 public:
  Mapped(std::unique_ptr<const Node> below, Spec element, MapFunction function)
      : Step(std::move(below)),
        spec_(std::move(element)),
        from_(this->below().spec()),
        function_(std::move(function)) {}

  const Spec& spec() const override { return spec_; }
  bool isPadded() const override { return below().isPadded() && hasWeights(spec_); }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    const ScratchRow from(from_);
    if (!below().read(pass, index, from.row())) return false;
    function_(TensorRefs(below().spec(), from.row()), TensorRefs(spec_, row));
    return true;
  }

  std::string ownDescription() const override { return ".map(" + textOf(spec_) + ')'; }

 private:
  Spec spec_;
  RowLayout from_;
  MapFunction function_;
};

class Batched final : public Step {
 public:
  Batched(std::unique_ptr<const Node> below, Spec batch, std::size_t rows, bool pads)
      : Step(std::move(below)),
        spec_(std::move(batch)),
        element_(this->below().spec()),
        rows_(rows),
        pads_(pads) {}

  const Spec& spec() const override { return spec_; }
  bool isShuffled() const override { return false; }
  bool isPadded() const override { return pads_ || Step::isPadded(); }
  std::uint64_t rows() const override { return rows_ * below().rows(); }

  Extent extent() const override {
    const Extent all = below().extent();
    if (!all || *all == kEndless) return all;
    return *all / rows_ + (pads_ && *all % rows_ != 0 ? 1 : 0);
  }

  Extent dropped() const override {
    const Extent all = below().extent();
    const Extent before = below().dropped();
    if (!all || !before) return std::nullopt;
    return pads_ || *all == kEndless ? before : *before + *all % rows_ * below().rows();
  }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    RowAddresses part{};
    std::copy_n(row, element_.tensors(), part.begin());
    for (std::size_t filled = 0; filled < rows_; ++filled) {
      if (pass.isCancelled()) return false;
      if (filled + 1 < rows_) below().willRead(pass, index * rows_ + filled + 1);
      if (!below().read(pass, index * rows_ + filled, part.data())) {
        if (!pads_ || filled == 0 || pass.isCancelled()) return false;
        pad(part, rows_ - filled);
        weigh(row, filled);
        return true;
      }
      for (std::size_t i = 0; i < element_.tensors(); ++i) part[i] += element_.bytes(i);
    }
    weigh(row, rows_);
    return true;
  }

  std::string ownDescription() const override {
    return ".batch(" + std::to_string(rows_) + (pads_ ? ", padded)" : ")");
  }

 private:
  void pad(const RowAddresses& from, std::size_t rows) const {
    for (std::size_t i = 0; i < element_.tensors(); ++i)
      std::fill_n(from[i], rows * element_.bytes(i), std::byte{0});
  }

  void weigh(Row row, std::size_t filled) const {
    if (!pads_) return;
    auto* weights = reinterpret_cast<float*>(row[element_.tensors()]);
    std::fill_n(weights, filled, 1.0F);
    std::fill_n(weights + filled, rows_ - filled, 0.0F);
  }

  Spec spec_;
  RowLayout element_;
  std::size_t rows_;
  bool pads_;
};

/// The tensors of `rows` elements together; too large or of a doubled name, they are refused later.
Spec batchOf(Spec spec, std::size_t rows, bool with_weights) {
  for (TensorSpec& tensor : spec) tensor.shape.insert(tensor.shape.begin(), rows);
  if (with_weights) spec.push_back({kWeightTensor, Type::kFloat, {rows}});
  return spec;
}

/// A dataset that is not empty gives a batch, where its size is known.
pop::Status checkOneIsFull(const Node& below, std::size_t rows, bool pads) {
  const Extent elements = below.extent();
  if (pads || !elements || *elements == 0 || *elements >= rows) return {};
  return pop::invalidArgument("a batch takes " + std::to_string(rows) + " elements, and the dataset has " +
                              std::to_string(*elements) +
                              ": lower the rows, or use Remainder::kPadWithWeights");
}

}  // namespace

pop::Result<std::unique_ptr<const Node>> mapped(std::unique_ptr<const Node> below, Spec element,
                                                MapFunction function) {
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(element, "the output of map()"));
  if (!function) return pop::invalidArgument("no function");
  return std::unique_ptr<const Node>(
      std::make_unique<Mapped>(std::move(below), std::move(element), std::move(function)));
}

pop::Result<std::unique_ptr<const Node>> batched(std::unique_ptr<const Node> below, std::size_t rows,
                                                 Remainder remainder) {
  if (rows < 1) return pop::invalidArgument("a batch of 0 rows, expected 1 or more");
  const bool pads = remainder == Remainder::kPadWithWeights;
  Spec batch = batchOf(below->spec(), rows, pads);
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(batch, "a batch of " + std::to_string(rows) + " rows"));
  POP_RETURN_IF_ERROR(checkOneIsFull(*below, rows, pads));
  return std::unique_ptr<const Node>(
      std::make_unique<Batched>(std::move(below), std::move(batch), rows, pads));
}

}  // namespace popdist::io
