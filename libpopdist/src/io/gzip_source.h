// SPDX-License-Identifier: Apache-2.0
// A file's bytes, decompressed if the file is gzip.
#pragma once

#include <zlib.h>

#include <memory>
#include <string>

#include "libpopdist/src/io/byte_source.h"

namespace popdist::io {

class GzipSource final : public ByteSource {
 public:
  static pop::Result<GzipSource> open(const std::string& path);

  const std::string& name() const override { return path_; }
  pop::Result<std::size_t> read(std::span<std::uint8_t> into) override;
  pop::Status endStatus() const override;

 private:
  struct Close {
    // A file that was only read has nothing to lose on closing.
    void operator()(gzFile file) const { gzclose_r(file); }
  };
  using File = std::unique_ptr<gzFile_s, Close>;

  GzipSource(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  File file_;
};

}  // namespace popdist::io
