// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/file_sources.h"

#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/dataset/array_source.h"
#include "libpopdist/data/formats/file_bytes.h"
#include "libpopdist/data/formats/npy_header.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

pop::Status checkLength(const FileBytes& file, std::size_t header_bytes, const TensorSpec& whole) {
  const std::size_t got = file.bytes().size() - header_bytes;
  const std::string elements = std::to_string(whole.bytes()) + " bytes of elements (" + nameOf(whole.type) +
                               " " + popdist::textOf(whole.shape) + ")";
  if (got < whole.bytes()) {
    return {pop::Code::kDataLoss, pop::inQuotes(file.path()) + " is truncated: expected " + elements +
                                      ", got " + std::to_string(got)};
  }
  if (got > whole.bytes())
    return pop::invalidArgument(pop::inQuotes(file.path()) + " has trailing bytes after " + elements);
  return {};
}

pop::Result<NamedArray> openFile(const NpyFile& file) {
  POP_ASSIGN_OR_RETURN(FileBytes bytes, FileBytes::open(file.path.string()));
  POP_ASSIGN_OR_RETURN(const NpyHeader header, parseNpyHeader(bytes.bytes(), bytes.path()));
  TensorSpec whole{file.tensor, header.type, header.shape};
  if (const pop::Status status = tensor::checkSpec({whole}); !status.ok())
    return pop::Status(status.code(), pop::inQuotes(bytes.path()) + ": " + status.message());
  POP_RETURN_IF_ERROR(checkLength(bytes, header.bytes, whole));
  POP_RETURN_IF_ERROR(bytes.checkUnchanged());
  const auto owner = std::make_shared<const FileBytes>(std::move(bytes));
  return NamedArray{owner->state(), owner, std::move(whole), owner->bytes().data() + header.bytes, owner};
}

}  // namespace

pop::Result<std::unique_ptr<const Node>> npyOf(const std::vector<NpyFile>& files) {
  std::vector<NamedArray> arrays;
  for (const NpyFile& file : files) {
    POP_ASSIGN_OR_RETURN(NamedArray array, openFile(file));
    arrays.push_back(std::move(array));
  }
  return elementsOfArrays(std::move(arrays));
}

}  // namespace popdist::io
