// SPDX-License-Identifier: Apache-2.0
// Elements in tar archives, as WebDataset has them: files that follow each other and whose names are the same
// up to the first dot of their last part. A link is the file that it leads to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/formats/file_bytes.h"

namespace popdist::io {

/// Index of several archives. Memory: 24 bytes a file, and some 60 an element, for its key.
class TarIndex {
 public:
  /// Passes over directories and over files without a dot, or hidden, or in directories such as __meta__
  /// (WebDataset's own). kInvalidArgument: not of this format, no archives, two files of one name in an
  /// element, or a link or device that leads to no file; kDataLoss: an archive is damaged or cut.
  static pop::Result<TarIndex> open(const std::vector<std::string>& paths);

  std::uint64_t size() const { return elements_.size(); }
  std::vector<FileState> archives() const;

  std::string_view key(std::uint64_t element) const { return elements_[element].key; }
  /// Nothing: the element has no such file.
  std::optional<std::span<const std::byte>> file(std::uint64_t element, std::string_view extension) const;

  /// As FileBytes has it: after files of the element were read.
  pop::Status checkUnchanged(std::uint64_t element) const {
    return archives_[elements_[element].archive].checkUnchanged();
  }

  /// "'train.tar', element 'n01440764/17'".
  std::string placeOf(std::uint64_t element) const;
  /// "jpg, cls".
  std::string extensionsOf(std::uint64_t element) const;

 private:
  struct File {
    std::uint32_t extension = 0;  // its position in extensions_
    std::span<const std::byte> content;
  };
  struct Element {
    std::string key;
    std::size_t first_file = 0;
    std::uint32_t archive = 0;
  };

  pop::Status add(FileBytes archive);
  pop::Status addFile(std::string_view name, std::span<const std::byte> content, std::uint32_t archive);
  std::uint32_t numberOf(std::string_view extension);
  std::span<const File> filesOf(std::uint64_t element) const;

  std::vector<FileBytes> archives_;
  std::vector<std::string> extensions_;
  std::vector<File> files_;
  std::vector<Element> elements_;
};

}  // namespace popdist::io
