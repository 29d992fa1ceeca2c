// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/description.h"

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>
#include <thread>

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

/// The system gives all changes of a tick, 1 to 10 ms, the same time.
void awaitNextTick(std::int64_t changed_ns) {
  constexpr std::chrono::milliseconds kTick{10};
  const auto age = std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds(changed_ns);
  if (age >= age.zero() && age < kTick) std::this_thread::sleep_for(kTick - age);
}

std::string describeFile(const FileState& file) {
  awaitNextTick(file.changed_ns);
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(file.path, error).lexically_normal();
  char changed[32];
  std::snprintf(changed, sizeof changed, "%" PRId64 ".%09" PRId64, file.changed_ns / 1'000'000'000,
                file.changed_ns % 1'000'000'000);
  return pop::inQuotes(whole.string()) + " of " + std::to_string(file.bytes) + " bytes (inode " +
         std::to_string(file.inode) + ", changed at " + changed + ')';
}

}  // namespace

std::string describeFiles(const std::vector<FileState>& files) {
  std::vector<std::string> texts;
  for (const FileState& file : files) texts.push_back(describeFile(file));
  const std::string all = pop::join(texts, ", ");
  if (all.size() <= kMostLetters) return all;
  return texts.front() + " … " + pop::counted(static_cast<std::int64_t>(files.size()), "file") + ", " +
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
