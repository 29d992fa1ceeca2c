// SPDX-License-Identifier: Apache-2.0
// The first images of Debian's dataset-fashion-mnist: training on all of them takes seconds, and minutes with
// sanitizers.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "popdist/io.hpp"
#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace pop::testing {

class SmallFashionMnist {
 public:
  /// 1500 to train on, 300 to test.
  SmallFashionMnist() {
    if (!std::filesystem::exists(kAll)) {
      ADD_FAILURE() << "install dataset-fashion-mnist";
      return;
    }
    write("train", 1500);
    write("t10k", 300);
  }

  const std::string& directory() const { return directory_.path(); }

 private:
  static inline const std::filesystem::path kAll = "/usr/share/datasets/fashion-mnist";

  void write(const std::string& part, std::size_t samples) const {
    namespace files = popdist::io::testing;
    const std::string images_file = part + "-images-idx3-ubyte.gz";
    const std::string labels_file = part + "-labels-idx1-ubyte.gz";
    const auto all =
        popdist::io::Dataset::idx({{"image", kAll / images_file}, {"label", kAll / labels_file}});
    files::Bytes images = files::idxHeader({static_cast<std::uint32_t>(samples), 28, 28});
    files::Bytes labels = files::idxHeader({static_cast<std::uint32_t>(samples)});
    popdist::Tensors element(all.spec());
    for (std::size_t sample = 0; sample < samples; ++sample) {
      all.read(0, sample, element);
      const auto image = element.get<std::uint8_t>("image");
      images.insert(images.end(), image.begin(), image.end());
      labels.push_back(element.get<std::uint8_t>("label")[0]);
    }
    files::writeGzip(directory_ / images_file, images);
    files::writeGzip(directory_ / labels_file, labels);
  }

  TempDir directory_;
};

}  // namespace pop::testing
