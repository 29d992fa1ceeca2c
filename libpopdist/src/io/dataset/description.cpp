// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/io/dataset/description.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

#include "common/base/crc32c.h"
#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr std::size_t kMostLetters = 1000;

std::string checksumText(std::uint32_t checksum) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", checksum);
  return std::string("checksum ") + digits;
}

std::string describeFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return pop::inQuotes(whole.string()) + (error ? "" : " of " + std::to_string(bytes) + " bytes");
}

}  // namespace

std::string describeFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) files.push_back(describeFile(path));
  const std::string all = pop::join(files, ", ");
  if (all.size() <= kMostLetters) return all;
  return files.front() + " … " + pop::counted(static_cast<std::int64_t>(files.size()), "file") + ", " +
         checksumText(pop::crc32c(std::as_bytes(std::span(all))));
}

std::string shortened(const std::string& text) {
  if (text.size() <= kMostLetters) return text;
  return text.substr(0, kMostLetters) + " … " + checksumText(pop::crc32c(std::as_bytes(std::span(text))));
}

std::string describeValues(const Tensors& tensors) {
  std::uint32_t checksum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) checksum = pop::crc32c(tensors.at(i).bytes(), checksum);
  return textOf(tensors.spec()) + ", " + checksumText(checksum);
}

}  // namespace popdist::io
