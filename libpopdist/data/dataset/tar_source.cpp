// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/file_sources.h"

#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "libpopdist/data/dataset/description.h"
#include "libpopdist/data/dataset/foreign_bytes.h"
#include "libpopdist/data/formats/tar_index.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

pop::Status noFile(const TarIndex& index, std::uint64_t element, std::string_view extension) {
  return {pop::Code::kNotFound, index.placeOf(element) + " has no file with the extension " +
                                    pop::inQuotes(extension) + ", only " + index.extensionsOf(element) +
                                    " (the files of an element follow each other)"};
}

class Tar final : public AddressedSource {
 public:
  Tar(TarIndex index, Spec spec, TarFunction decode)
      : AddressedSource(index.size()),
        index_(std::move(index)),
        spec_(std::move(spec)),
        decode_(std::move(decode)) {}

  const Spec& spec() const override { return spec_; }

  bool read(const Pass&, std::uint64_t element, Row row) const override {
    if (!has(element)) return false;
    if (decode_) {
      decode(element, TensorRefs(spec_, row));
    } else {
      for (std::size_t i = 0; i < spec_.size(); ++i)
        copyForeign(spec_[i].type, *index_.file(element, spec_[i].name), row[i]);
    }
    throwIfError(index_.checkUnchanged(element), "Dataset.tar");
    return true;
  }

  std::string description() const override {
    return "tar(" + describeFiles(index_.archives()) + ": " + textOf(spec_) + (decode_ ? ", decoded)" : ")");
  }

 private:
  /// An error of the function may be about bytes that are gone.
  void decode(std::uint64_t element, TensorRefs to) const try {
    throwIfError(index_.checkUnchanged(element), "Dataset.tar");
    decode_(TarElement(index_, element), to);
  } catch (...) {
    throwIfError(index_.checkUnchanged(element), "Dataset.tar");
    throw;
  }

  TarIndex index_;
  Spec spec_;
  TarFunction decode_;
};

/// Every element has a file for each tensor, of its size.
pop::Status checkFiles(const TarIndex& index, const Spec& spec) {
  for (std::uint64_t element = 0; element < index.size(); ++element) {
    for (const TensorSpec& tensor : spec) {
      const auto file = index.file(element, tensor.name);
      if (!file) return noFile(index, element, tensor.name);
      if (file->size() != tensor.bytes()) {
        return pop::invalidArgument(index.placeOf(element) + ": the file with the extension " +
                                    pop::inQuotes(tensor.name) + " has " + std::to_string(file->size()) +
                                    " bytes, expected the " + std::to_string(tensor.bytes()) + " of " +
                                    textOf(tensor) + ": a function can decode files of any size");
      }
    }
  }
  return {};
}

}  // namespace

std::string_view TarElement::key() const {
  return index_->key(element_);
}

bool TarElement::has(std::string_view extension) const {
  return index_->file(element_, extension).has_value();
}

std::span<const std::byte> TarElement::file(std::string_view extension) const {
  const auto file = index_->file(element_, extension);
  if (!file) throwIfError(noFile(*index_, element_, extension), "TarElement.file");
  return *file;
}

pop::Result<std::unique_ptr<const Node>> tarOf(const std::vector<std::filesystem::path>& archives,
                                               Spec element, TarFunction decode) {
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(element, "the element"));
  std::vector<std::string> paths;
  for (const std::filesystem::path& archive : archives) paths.push_back(archive.string());
  POP_ASSIGN_OR_RETURN(TarIndex index, TarIndex::open(paths));
  if (!decode) POP_RETURN_IF_ERROR(checkFiles(index, element));
  return std::unique_ptr<const Node>(
      std::make_unique<Tar>(std::move(index), std::move(element), std::move(decode)));
}

}  // namespace popdist::io
