// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/io/dataset/idx_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/src/io/dataset/row_layout.h"
#include "libpopdist/src/io/formats/gzip_source.h"
#include "libpopdist/src/io/formats/idx_array.h"

namespace popdist::io {
namespace {

class IdxArrays final : public AddressedSource {
 public:
  IdxArrays(std::vector<IdxArray> arrays, Spec spec)
      : AddressedSource(arrays[0].dims[0]),
        arrays_(std::move(arrays)),
        spec_(std::move(spec)),
        layout_(spec_) {}

  const Spec& spec() const override { return spec_; }

  bool read(const Pass&, std::uint64_t index, Row row) const override {
    if (!has(index)) return false;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const std::size_t bytes = layout_.bytes(i);
      std::copy_n(reinterpret_cast<const std::byte*>(arrays_[i].values.data()) + index * bytes, bytes,
                  row[i]);
    }
    return true;
  }

 private:
  std::vector<IdxArray> arrays_;
  Spec spec_;
  RowLayout layout_;
};

pop::Result<IdxArray> readFile(const std::string& path) {
  POP_ASSIGN_OR_RETURN(GzipSource source, GzipSource::open(path));
  return readIdxArray(source);
}

}  // namespace

pop::Result<std::unique_ptr<const Node>> idxOf(const std::vector<IdxFile>& files) {
  if (files.empty()) return pop::invalidArgument("no files");
  std::vector<IdxArray> arrays;
  Spec spec;
  for (const IdxFile& file : files) {
    const std::string path = file.path.string();
    POP_ASSIGN_OR_RETURN(IdxArray array, readFile(path));
    if (!arrays.empty() && array.dims[0] != arrays[0].dims[0]) {
      return pop::invalidArgument(pop::inQuotes(files[0].path.string()) + " has " +
                                  std::to_string(arrays[0].dims[0]) + " elements but " + pop::inQuotes(path) +
                                  " has " + std::to_string(array.dims[0]));
    }
    spec.push_back({file.tensor, Type::kUint8, Shape(array.dims.begin() + 1, array.dims.end())});
    arrays.push_back(std::move(array));
  }
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(spec, "the dataset"));
  return std::unique_ptr<const Node>(std::make_unique<IdxArrays>(std::move(arrays), std::move(spec)));
}

}  // namespace popdist::io
