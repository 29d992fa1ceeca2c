// SPDX-License-Identifier: Apache-2.0
// A record as bytes of a file:
//   u32 length of the body   u32 its CRC32   u64 sequence   u64 output before it   "PR1" kind   u32 CRC32 of
//   these 28 bytes           the body
// Numbers are little endian. "Output before it" counts the bytes of all output records of the job that came
// earlier, also of dropped ones, so that two neighbours tell how much is missing between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/model/job_record.h"

namespace pop::runner {

constexpr std::size_t kFrameHeaderBytes = 32;
constexpr std::size_t kMostRecordBytes = 64 << 20;
/// Far beyond what any job reaches, and far from where sums overflow: of sequences and of bytes of output.
constexpr std::uint64_t kNumberLimit = std::uint64_t{1} << 60;

struct Frame {
  std::uint64_t sequence = 0;
  std::uint64_t output_before = 0;
  RecordKind kind = RecordKind::kEvent;
  std::string_view body;

  std::size_t size() const { return kFrameHeaderBytes + body.size(); }
  std::uint64_t outputAfter() const {
    return output_before + (kind == RecordKind::kOutput ? body.size() : 0);
  }
};

/// Sets `bytes` to the frame; keeps its memory for the next one.
void writeFrame(const Frame& frame, std::string& bytes);

enum class FrameState {
  kWhole,
  kShort,    ///< the bytes end within it, as when its writer was stopped, or has not finished
  kDamaged,  ///< no writer leaves this
};

struct ParsedFrame {
  FrameState state = FrameState::kShort;
  Frame frame;             ///< if it is whole; its body lies in the bytes that were parsed
  std::size_t needed = 0;  ///< if it is short: how many bytes decide
};

/// The frame at the start of `bytes`. What a crashed machine leaves at a file's end counts as short: zeros
/// for the header, or a body that does not match its checksum with nothing behind it.
ParsedFrame parseFrame(std::string_view bytes);

}  // namespace pop::runner
