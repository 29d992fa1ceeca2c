// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

ModelFile::ModelFile(std::string path) : path_(std::move(path)), partial_(path_ + ".partial") {
  if (std::filesystem::is_directory(path_))
    throw std::runtime_error("--output-model " + path_ + " is a directory: name a file in it");
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_))
    throw std::runtime_error("--output-model " + path_ + " is no regular file: name another");
  file_.open(partial_, std::ios::binary);
  if (!file_)
    throw std::runtime_error("cannot create " + partial_ +
                             ", which becomes the --output-model: " + std::strerror(errno));
}

ModelFile::~ModelFile() {
  if (file_.is_open()) std::remove(partial_.c_str());
}

void ModelFile::write(std::span<const std::byte> bytes) {
  file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void ModelFile::finish() {
  file_.flush();
  if (!file_) throw std::runtime_error("cannot write " + partial_);
  file_.close();
  std::filesystem::rename(partial_, path_);
}
