// SPDX-License-Identifier: Apache-2.0
#include "common/contract/frame.h"

#include "common/base/text.h"

namespace pop::contract {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kLeastBodyBytes = 1 + kLengthBytes;  // type and number of fields

void appendU32(std::string& out, std::size_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xff);
}

std::size_t readU32(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    value |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

Status malformed(const char* what) {
  return {Code::kDataLoss, std::string("malformed frame: ") + what};
}

Result<Frame> decodeBody(std::string_view body) {
  Frame frame;
  frame.type = static_cast<std::uint8_t>(body[0]);
  std::size_t left = readU32(body.substr(1));
  body.remove_prefix(kLeastBodyBytes);
  if (left > body.size() / kLengthBytes) return malformed("more fields than its length allows");
  frame.fields.reserve(left);
  for (; left > 0; --left) {
    if (body.size() < kLengthBytes) return malformed("it ends inside a field's length");
    const std::size_t bytes = readU32(body);
    body.remove_prefix(kLengthBytes);
    if (bytes > body.size()) return malformed("a field is longer than the frame");
    frame.fields.emplace_back(body.substr(0, bytes));
    body.remove_prefix(bytes);
  }
  if (!body.empty()) return malformed("bytes after its last field");
  return frame;
}

}  // namespace

std::size_t bodyBytes(const Frame& frame) {
  std::size_t bytes = kLeastBodyBytes;
  for (const std::string& field : frame.fields) bytes += kLengthBytes + field.size();
  return bytes;
}

Result<std::string> encode(const Frame& frame) {
  const std::size_t body_bytes = bodyBytes(frame);
  if (body_bytes > kMaxFrameBytes) {
    return Status(Code::kResourceExhausted, "a message of " + std::to_string(body_bytes) +
                                                " bytes exceeds the limit of " +
                                                std::to_string(kMaxFrameBytes) + " bytes");
  }
  std::string bytes;
  bytes.reserve(kLengthBytes + body_bytes);
  appendU32(bytes, body_bytes);
  bytes += static_cast<char>(frame.type);
  appendU32(bytes, frame.fields.size());
  for (const std::string& field : frame.fields) {
    appendU32(bytes, field.size());
    bytes += field;
  }
  return bytes;
}

Result<int> numberField(const Frame& frame, std::size_t index) {
  if (index >= frame.fields.size()) return Status(Code::kDataLoss, "a field is missing");
  POP_ASSIGN_OR_RETURN(const std::int64_t number, parseInteger(frame.fields[index]));
  if (number < 0 || number > INT32_MAX) return Status(Code::kDataLoss, "a number is out of range");
  return static_cast<int>(number);
}

void FrameReader::append(std::string_view bytes) {
  if (consumed_ > 0) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
  }
  buffer_ += bytes;
}

Result<std::optional<Frame>> FrameReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(consumed_);
  if (rest.size() < kLengthBytes) return std::optional<Frame>();
  const std::size_t body_bytes = readU32(rest);
  if (body_bytes < kLeastBodyBytes) return malformed("shorter than any frame");
  if (body_bytes > most_bytes_) return malformed("longer than the limit");
  if (rest.size() < kLengthBytes + body_bytes) return std::optional<Frame>();
  POP_ASSIGN_OR_RETURN(Frame frame, decodeBody(rest.substr(kLengthBytes, body_bytes)));
  consumed_ += kLengthBytes + body_bytes;
  return std::optional<Frame>(std::move(frame));
}

std::size_t FrameReader::missingBytes() const {
  const std::string_view rest = std::string_view(buffer_).substr(consumed_);
  if (rest.size() < kLengthBytes) return kLengthBytes - rest.size();
  return kLengthBytes + readU32(rest) - rest.size();
}

}  // namespace pop::contract
