// SPDX-License-Identifier: Apache-2.0
// IDX files and other inputs made by tests.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/data/formats/byte_source.h"
#include "tests/testing/temp_dir.h"

namespace popdist::io::testing {

using Bytes = std::vector<std::uint8_t>;

using pop::testing::TempDir;

/// An IDX header; then come the elements.
inline Bytes idxHeader(const std::vector<std::uint32_t>& dims, std::uint8_t type = 0x08) {
  Bytes bytes{0, 0, type, static_cast<std::uint8_t>(dims.size())};
  for (const std::uint32_t dim : dims) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(dim >> shift));
  }
  return bytes;
}

/// A whole IDX file whose element i is i mod 251.
inline Bytes idxFile(const std::vector<std::uint32_t>& dims) {
  Bytes bytes = idxHeader(dims);
  std::size_t count = 1;
  for (const std::uint32_t dim : dims) count *= dim;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(i % 251));
  return bytes;
}

inline void writePlain(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  for (const std::uint8_t byte : bytes) file.put(static_cast<char>(byte));
}

/// `mode` as gzopen has it: "wb0" stores the bytes as they are.
inline void writeGzip(const std::filesystem::path& path, const Bytes& bytes, const char* mode = "wb") {
  gzFile file = gzopen(path.c_str(), mode);
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

inline Bytes readAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes;
  for (char byte = 0; file.get(byte);) bytes.push_back(static_cast<std::uint8_t>(byte));
  return bytes;
}

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, Bytes bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}

  const std::string& name() const override { return name_; }
  pop::Result<std::size_t> read(std::span<std::uint8_t> into) override {
    const std::size_t count = std::min(into.size(), bytes_.size() - at_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, into.begin());
    at_ += count;
    largest_read_ = std::max(largest_read_, into.size());
    return count;
  }

  /// The largest buffer that anyone asked to be filled.
  std::size_t largestRead() const { return largest_read_; }

 private:
  std::string name_;
  Bytes bytes_;
  std::size_t at_ = 0;
  std::size_t largest_read_ = 0;
};

}  // namespace popdist::io::testing
