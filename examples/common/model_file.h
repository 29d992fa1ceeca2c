// SPDX-License-Identifier: Apache-2.0
// The file of --output-model: complete under its name, or not there.
#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <string>

/// Written beside its place: a reader never sees half a model. Functions throw std::runtime_error with what
/// to do.
class ModelFile {
 public:
  /// Before the training: nobody wants to hear after hours that there is no such directory. What is there
  /// already must be a regular file.
  explicit ModelFile(std::string path);
  /// Without finish(), nothing is left.
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void finish();

 private:
  const std::string path_;
  const std::string partial_;
  std::ofstream file_;
};
