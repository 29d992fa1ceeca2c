// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/array_source.h"

#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/dataset/description.h"
#include "libpopdist/data/dataset/foreign_bytes.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

class Arrays final : public AddressedSource {
 public:
  Arrays(std::vector<NamedArray> arrays, Spec spec)
      : AddressedSource(arrays[0].whole.shape[0]), arrays_(std::move(arrays)), spec_(std::move(spec)) {
    for (const TensorSpec& tensor : spec_) element_bytes_.push_back(tensor.bytes());
  }

  const Spec& spec() const override { return spec_; }

  bool read(const Pass&, std::uint64_t index, Row row) const override {
    if (!has(index)) return false;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const std::size_t bytes = element_bytes_[i];
      copyForeign(spec_[i].type, {arrays_[i].values + index * bytes, bytes}, row[i]);
      if (arrays_[i].mapped) throwIfError(arrays_[i].mapped->checkUnchanged(), "Dataset.npy");
    }
    return true;
  }

  std::string description() const override {
    std::vector<FileState> files;
    for (const NamedArray& array : arrays_) files.push_back(array.file);
    return "arrays(" + describeFiles(files) + ": " + textOf(spec_) + ')';
  }

 private:
  std::vector<NamedArray> arrays_;
  Spec spec_;
  std::vector<std::size_t> element_bytes_;
};

}  // namespace

pop::Result<std::unique_ptr<const Node>> elementsOfArrays(std::vector<NamedArray> arrays) {
  if (arrays.empty()) return pop::invalidArgument("no files");
  Spec spec;
  for (const NamedArray& array : arrays) {
    const Shape& shape = array.whole.shape;
    if (shape[0] != arrays[0].whole.shape[0]) {
      return pop::invalidArgument(pop::inQuotes(arrays[0].file.path) + " has " +
                                  std::to_string(arrays[0].whole.shape[0]) + " elements but " +
                                  pop::inQuotes(array.file.path) + " has " + std::to_string(shape[0]));
    }
    spec.push_back({array.whole.name, array.whole.type, Shape(shape.begin() + 1, shape.end())});
  }
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(spec, "the dataset"));
  return std::unique_ptr<const Node>(std::make_unique<Arrays>(std::move(arrays), std::move(spec)));
}

}  // namespace popdist::io
