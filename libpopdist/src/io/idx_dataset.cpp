// SPDX-License-Identifier: Apache-2.0
// IdxDataset: the public face of idx_array.
#include <string>
#include <utility>

#include "libpopdist/src/io/error_edge.h"
#include "libpopdist/src/io/gzip_source.h"
#include "libpopdist/src/io/idx_array.h"
#include "popdist/io.hpp"

namespace popdist::io {
namespace {

pop::Result<IdxPair> readFiles(const std::filesystem::path& images, const std::filesystem::path& labels) {
  POP_ASSIGN_OR_RETURN(GzipSource image_source, GzipSource::open(images.string()));
  POP_ASSIGN_OR_RETURN(GzipSource label_source, GzipSource::open(labels.string()));
  return readIdxPair(image_source, label_source);
}

}  // namespace

IdxDataset::IdxDataset(const std::filesystem::path& images, const std::filesystem::path& labels) {
  pop::Result<IdxPair> pair = readFiles(images, labels);
  throwIfError(pair.status(), "IdxDataset");
  sample_shape_.assign(pair->images.dims.begin() + 1, pair->images.dims.end());
  feature_count_ = pair->images.values.size() / pair->images.dims.front();
  images_ = std::move(pair->images.values);
  labels_ = std::move(pair->labels.values);
}

std::span<const std::uint8_t> IdxDataset::image(std::size_t sample) const {
  if (sample >= size()) {
    throw popdist_error(ErrorCode::kOutOfRange, "IdxDataset: sample " + std::to_string(sample) +
                                                    " does not exist: the dataset has " +
                                                    std::to_string(size()) + " samples");
  }
  return std::span(images_).subspan(sample * featureCount(), featureCount());
}

void IdxDataset::read(std::size_t sample, std::span<float> features, std::int32_t& label) const {
  const std::span<const std::uint8_t> bytes = image(sample);
  if (features.size() != bytes.size()) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "IdxDataset.read: a sample has " + std::to_string(bytes.size()) +
                            " features, the buffer has room for " + std::to_string(features.size()));
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) features[i] = static_cast<float>(bytes[i]) / 255.0F;
  label = labels_[sample];
}

}  // namespace popdist::io
