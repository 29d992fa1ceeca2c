// SPDX-License-Identifier: Apache-2.0
// Descriptions of the files that datasets read: see Dataset::idx(), npy(), csv(), tfRecords() and such.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/tensor.hpp"

namespace popdist::io {

/// A file in the IDX format (MNIST's), plain or gzip, and the name of its tensor.
struct IdxFile {
  std::string tensor{};
  std::filesystem::path path{};
};

/// A file in NumPy's .npy format, plain or gzip, and the name of its tensor.
struct NpyFile {
  std::string tensor{};
  std::filesystem::path path{};
};

/// A tensor made of columns of numbers: one is a scalar, n are [n].
struct CsvTensor {
  std::string tensor{};
  std::vector<std::string> columns{};  ///< names, in the order of the tensor's elements
  Type type = Type::kFloat;
};

struct CsvOptions {
  std::vector<CsvTensor> tensors{};
  std::vector<std::string> header{};  ///< names of all columns; empty: the first line has them
  char separator = ',';
};

/// Makes the tensors of one element out of a record's bytes, such as a decoder of images does. Called by
/// several threads at once; may throw.
using RecordFunction = std::function<void(std::span<const std::byte> record, TensorRefs element)>;

class TarIndex;

/// The files of a tar archive that make one element: those whose names are the same up to the first dot of
/// their last part. "train/0017.jpg" and "train/0017.cls" have the key "train/0017" and the extensions "jpg"
/// and "cls".
class TarElement {
 public:
  TarElement(const TarIndex& index, std::size_t element) : index_(&index), element_(element) {}

  std::string_view key() const;
  bool has(std::string_view extension) const;
  /// A file's content, valid as long as the dataset. Throws popdist_error kNotFound with the extensions that
  /// there are.
  std::span<const std::byte> file(std::string_view extension) const;

 private:
  const TarIndex* index_;
  std::size_t element_;
};

/// Makes the tensors of one element out of its files. Called by several threads at once; may throw.
using TarFunction = std::function<void(const TarElement& files, TensorRefs element)>;

}  // namespace popdist::io
