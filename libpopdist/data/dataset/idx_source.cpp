// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/file_sources.h"

#include <string>
#include <utility>

#include "libpopdist/data/dataset/array_source.h"
#include "libpopdist/data/formats/gzip_source.h"
#include "libpopdist/data/formats/idx_array.h"

namespace popdist::io {
namespace {

pop::Result<NamedArray> readFile(const IdxFile& file) {
  const std::string path = file.path.string();
  POP_ASSIGN_OR_RETURN(GzipSource source, GzipSource::open(path));
  POP_ASSIGN_OR_RETURN(IdxArray array, readIdxArray(source));
  const auto owner = std::make_shared<const IdxArray>(std::move(array));
  return NamedArray{source.state(),
                    nullptr,
                    {file.tensor, Type::kUint8, owner->dims},
                    reinterpret_cast<const std::byte*>(owner->values.data()),
                    owner};
}

}  // namespace

pop::Result<std::unique_ptr<const Node>> idxOf(const std::vector<IdxFile>& files) {
  std::vector<NamedArray> arrays;
  for (const IdxFile& file : files) {
    POP_ASSIGN_OR_RETURN(NamedArray array, readFile(file));
    arrays.push_back(std::move(array));
  }
  return elementsOfArrays(std::move(arrays));
}

}  // namespace popdist::io
