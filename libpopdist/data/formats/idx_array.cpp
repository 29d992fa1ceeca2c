// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/idx_array.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <new>
#include <optional>
#include <string>

#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::size_t kFirstChunkBytes = 64 * 1024;

std::string inHex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(byte));
    text += (text.empty() ? "" : " ") + std::string(digits.data());
  }
  return text;
}

std::string shapeText(const std::vector<std::size_t>& dims) {
  std::string text;
  for (const std::size_t dim : dims) text += (text.empty() ? "" : " x ") + std::to_string(dim);
  return text;
}

pop::Status truncated(const ByteSource& source, const std::string& part, std::size_t expected,
                      std::size_t got) {
  return {pop::Code::kDataLoss, pop::inQuotes(source.name()) + " is truncated: expected " +
                                    std::to_string(expected) + " bytes of " + part + ", got " +
                                    std::to_string(got)};
}

pop::Status readFully(ByteSource& source, std::span<std::uint8_t> into, const std::string& part) {
  POP_ASSIGN_OR_RETURN(const std::size_t got, source.read(into));
  return got == into.size() ? pop::Status() : truncated(source, part, into.size(), got);
}

/// The number of dimensions.
pop::Result<std::size_t> readMagic(ByteSource& source) {
  std::array<std::uint8_t, 4> magic{};
  POP_RETURN_IF_ERROR(readFully(source, magic, "magic number"));
  if (magic[0] != 0 || magic[1] != 0 || magic[3] == 0) {
    return pop::invalidArgument(pop::inQuotes(source.name()) + " is not an IDX file: its magic number is " +
                                inHex(magic) + ", expected 00 00 08 and the number of dimensions");
  }
  if (magic[2] != kUnsignedByte) {
    return pop::invalidArgument(pop::inQuotes(source.name()) + " has elements of type 0x" +
                                inHex(std::span(magic).subspan(2, 1)) +
                                "; only 0x08 (unsigned byte) can be read");
  }
  return std::size_t{magic[3]};
}

pop::Result<std::vector<std::size_t>> readDims(ByteSource& source, std::size_t dim_count) {
  std::vector<std::uint8_t> bytes(4 * dim_count);
  POP_RETURN_IF_ERROR(readFully(source, bytes, "dimensions"));
  std::vector<std::size_t> dims;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::size_t dim = 0;
    for (std::size_t i = 0; i < 4; ++i) dim = dim << 8U | bytes[at + i];
    if (dim == 0) {
      return pop::invalidArgument(pop::inQuotes(source.name()) + " is empty: its dimension " +
                                  std::to_string(dims.size()) + " is 0");
    }
    dims.push_back(dim);
  }
  return dims;
}

/// The product of `dims`, none of them 0; nothing if it does not fit.
std::optional<std::size_t> elementCount(const std::vector<std::size_t>& dims) {
  std::size_t count = 1;
  for (const std::size_t dim : dims) {
    if (dim > std::numeric_limits<std::size_t>::max() / count) return std::nullopt;
    count *= dim;
  }
  return count;
}

/// Grows with what has arrived: a header that promises terabytes costs one small chunk.
pop::Result<std::vector<std::uint8_t>> readValues(ByteSource& source, std::size_t count,
                                                  const std::string& part) {
  std::vector<std::uint8_t> values;
  while (values.size() < count) {
    const std::size_t have = values.size();
    const std::size_t chunk = std::min(count - have, std::max(kFirstChunkBytes, have));
    try {
      values.reserve(have + chunk);  // exactly; resize alone would round up
    } catch (const std::bad_alloc&) {
      return pop::Status(pop::Code::kResourceExhausted, pop::inQuotes(source.name()) +
                                                            " does not fit in memory: " + part + " are " +
                                                            std::to_string(count) + " bytes");
    }
    values.resize(have + chunk);
    POP_ASSIGN_OR_RETURN(const std::size_t got, source.read(std::span(values).subspan(have)));
    if (got < chunk) return truncated(source, part, count, have + got);
  }
  return values;
}

pop::Status expectEnd(ByteSource& source, const std::string& part) {
  std::array<std::uint8_t, 1> extra{};
  POP_ASSIGN_OR_RETURN(const std::size_t got, source.read(extra));
  if (got > 0)
    return pop::invalidArgument(pop::inQuotes(source.name()) + " has trailing bytes after " + part);
  return source.endStatus();
}

}  // namespace

pop::Result<IdxArray> readIdxArray(ByteSource& source) {
  POP_ASSIGN_OR_RETURN(const std::size_t dim_count, readMagic(source));
  IdxArray array;
  POP_ASSIGN_OR_RETURN(array.dims, readDims(source, dim_count));
  const std::optional<std::size_t> count = elementCount(array.dims);
  if (!count) {
    return pop::invalidArgument(pop::inQuotes(source.name()) + " claims an impossible size: " +
                                shapeText(array.dims) + " elements overflow");
  }
  const std::string part = "elements (" + shapeText(array.dims) + ")";
  POP_ASSIGN_OR_RETURN(array.values, readValues(source, *count, part));
  POP_RETURN_IF_ERROR(expectEnd(source, part));
  return array;
}

}  // namespace popdist::io
