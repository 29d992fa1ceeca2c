// SPDX-License-Identifier: Apache-2.0
#include "runner/store/frame.h"

#include <zlib.h>

#include <array>
#include <cstring>

namespace pop::runner {
namespace {

constexpr std::string_view kMagic = "PR1";
constexpr std::size_t kMagicAt = 24, kKindAt = 27, kChecksumAt = 28;

template <typename T>
void put(char* at, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<char>(number >> (8 * i));
}

template <typename T>
T get(const char* at) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    number |= static_cast<T>(static_cast<unsigned char>(at[i])) << (8 * i);
  return number;
}

std::uint32_t checksum(std::string_view bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(::crc32(0, data, static_cast<uInt>(bytes.size())));
}

bool isAllZero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

bool isPlausible(const Frame& frame, std::size_t length) {
  return length <= kMostRecordBytes && frame.sequence > 0 && frame.sequence < kNumberLimit &&
         frame.output_before < kNumberLimit &&
         (frame.kind == RecordKind::kEvent || frame.kind == RecordKind::kOutput);
}

}  // namespace

void writeFrame(const Frame& frame, std::string& bytes) {
  std::array<char, kFrameHeaderBytes> header{};
  put(&header[0], static_cast<std::uint32_t>(frame.body.size()));
  put(&header[4], checksum(frame.body));
  put(&header[8], frame.sequence);
  put(&header[16], frame.output_before);
  std::memcpy(&header[kMagicAt], kMagic.data(), kMagic.size());
  header[kKindAt] = static_cast<char>(frame.kind);
  put(&header[kChecksumAt], checksum({header.data(), kChecksumAt}));
  bytes.assign(header.data(), header.size());
  bytes.append(frame.body);
}

ParsedFrame parseFrame(std::string_view bytes) {
  ParsedFrame parsed;
  parsed.needed = kFrameHeaderBytes;
  if (bytes.size() < kFrameHeaderBytes) return parsed;
  const std::string_view header = bytes.substr(0, kFrameHeaderBytes);
  if (isAllZero(header)) return parsed;

  const std::size_t length = get<std::uint32_t>(&header[0]);
  parsed.frame = {.sequence = get<std::uint64_t>(&header[8]),
                  .output_before = get<std::uint64_t>(&header[16]),
                  .kind = static_cast<RecordKind>(header[kKindAt]),
                  .body = {}};
  parsed.state = FrameState::kDamaged;
  if (get<std::uint32_t>(&header[kChecksumAt]) != checksum(header.substr(0, kChecksumAt))) return parsed;
  if (header.substr(kMagicAt, kMagic.size()) != kMagic || !isPlausible(parsed.frame, length)) return parsed;

  parsed.needed = kFrameHeaderBytes + length;
  parsed.frame.body = bytes.substr(kFrameHeaderBytes, length);
  parsed.state = FrameState::kShort;
  if (bytes.size() < parsed.needed) return parsed;
  if (checksum(parsed.frame.body) == get<std::uint32_t>(&header[4])) {
    parsed.state = FrameState::kWhole;
  } else if (bytes.size() > parsed.needed) {
    parsed.state = FrameState::kDamaged;
  } else {
    ++parsed.needed;  // a byte behind it would show that it is not the last one
  }
  return parsed;
}

}  // namespace pop::runner
