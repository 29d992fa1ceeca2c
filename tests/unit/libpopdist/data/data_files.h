// SPDX-License-Identifier: Apache-2.0
// Files of other programs, made by tests: .npy, TFRecord, tf.train.Example, tar.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/crc32c.h"

namespace popdist::io::testing {

inline void writeText(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

template <typename Number>
std::string littleEndian(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// The text is filled up as NumPy does.
inline std::string npyFile(std::string dictionary, std::string_view elements, int version = 1) {
  const std::size_t before = version == 1 ? 10 : 12;
  while ((before + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  file += version == 1 ? littleEndian(static_cast<std::uint16_t>(dictionary.size()))
                       : littleEndian(static_cast<std::uint32_t>(dictionary.size()));
  return file + dictionary + std::string(elements);
}

/// `shape` as Python writes it: "(2, 3)".
inline std::string npyDictionary(const std::string& descr, const std::string& shape,
                                 const std::string& is_fortran_order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + is_fortran_order + ", 'shape': " + shape + ", }";
}

inline std::string maskedChecksum(std::string_view bytes) {
  const std::uint32_t checksum = pop::crc32c(std::as_bytes(std::span(bytes)));
  return littleEndian(std::rotr(checksum, 15) + 0xa282ead8U);
}

inline std::string tfRecord(std::string_view data) {
  const std::string length = littleEndian(std::uint64_t{data.size()});
  return length + maskedChecksum(length) + std::string(data) + maskedChecksum(data);
}

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}

/// A field that holds a message or bytes.
inline std::string protoBytes(std::uint32_t number, std::string_view content) {
  return varint(number << 3U | 2U) + varint(content.size()) + std::string(content);
}

/// `list` is 1 (bytes), 2 (floats) or 3 (integers); `values` the fields of its message.
inline std::string feature(std::string_view name, std::uint32_t list, std::string_view values) {
  return protoBytes(1, protoBytes(1, name) + protoBytes(2, protoBytes(list, values)));
}
inline std::string example(std::string_view features) {
  return protoBytes(1, features);
}

/// The block before a file's content, in the form of POSIX.
inline std::string tarHeader(std::string_view name, std::uint64_t bytes, char kind = '0') {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(100, 7, "0000644");
  char size[13];
  std::snprintf(size, sizeof size, "%011llo", static_cast<unsigned long long>(bytes));
  block.replace(124, 11, std::string_view(size, 11));
  block[156] = kind;
  block.replace(257, 8, std::string_view("ustar\00000", 8));
  return block;
}

inline std::string withTarChecksum(std::string block) {
  block.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  block.replace(148, 7, std::string_view(text, 7));
  return block;
}

inline std::string tarFile(std::string_view name, std::string_view content, char kind = '0') {
  std::string bytes = withTarChecksum(tarHeader(name, content.size(), kind)) + std::string(content);
  bytes.resize((bytes.size() + 511) / 512 * 512);
  return bytes;
}

/// `kind` is '1' (hard) or '2' (symbolic).
inline std::string tarLink(std::string_view name, std::string_view target, char kind) {
  return withTarChecksum(tarHeader(name, 0, kind).replace(157, target.size(), target));
}

inline std::string tarEnd() {
  return std::string(1024, '\0');
}

}  // namespace popdist::io::testing
