// SPDX-License-Identifier: Apache-2.0
#include "popdistd/net/client_header.h"

#include <arpa/inet.h>

#include <array>

#include "common/tls/digest.h"

namespace pop::popdistd {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kAddressBytes = 16;
constexpr std::size_t kAddressesBytes = 36;
constexpr std::string_view kMappedPrefix = "\0\0\0\0\0\0\0\0\0\0\xff\xff"sv;

// Signature; version 2 and PROXY; TCP6; the length of what follows, which is always the same.
constexpr std::string_view kHead = "\r\n\r\n\0\r\nQUIT\n\x21\x21\0\x57"sv;
static_assert(kHead.size() + 0x57 == kClientHeaderBytes);
// A type of our own, and the length of its value.
constexpr std::string_view kSealHead = "\xe0\0\x30"sv;
constexpr std::size_t kSealed = kClientHeaderBytes - tls::kDigestBytes;

std::string numberBytes(std::uint64_t number, std::size_t count) {
  std::string bytes;
  for (std::size_t i = count; i-- > 0;) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

std::uint64_t numberOf(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

std::string addressBytes(const std::string& address) {
  std::string bytes(kAddressBytes, '\0');
  if (::inet_pton(AF_INET, address.c_str(), bytes.data() + kMappedPrefix.size()) == 1)
    return bytes.replace(0, kMappedPrefix.size(), kMappedPrefix);
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) bytes.assign(kAddressBytes, '\0');
  return bytes;
}

std::string addressText(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool is_mapped = bytes.starts_with(kMappedPrefix);
  if (is_mapped) bytes.remove_prefix(kMappedPrefix.size());
  ::inet_ntop(is_mapped ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

}  // namespace

std::string encodeClientHeader(const ClientHeader& header, std::string_view key) {
  std::string bytes(kHead);
  bytes += addressBytes(header.client.address);
  bytes.append(kAddressBytes, '\0');
  bytes += numberBytes(static_cast<std::uint64_t>(header.client.port), 2);
  bytes.append(2, '\0');
  bytes += kSealHead;
  bytes += numberBytes(header.passer, 8);
  bytes += numberBytes(header.number, 8);
  bytes += tls::hmacOf(key, bytes);
  return bytes;
}

Result<ClientHeader> decodeClientHeader(std::string_view bytes, std::string_view key) {
  constexpr std::size_t kAddressesEnd = kHead.size() + kAddressesBytes;
  if (bytes.size() != kClientHeaderBytes || !bytes.starts_with(kHead) ||
      !bytes.substr(kAddressesEnd).starts_with(kSealHead))
    return Status(Code::kDataLoss, "it does not begin as a popdistd's does");
  if (!tls::areEqualDigests(tls::hmacOf(key, bytes.substr(0, kSealed)), bytes.substr(kSealed)))
    return Status(Code::kPermissionDenied, "it is not sealed with the key of this popdistd's lead");
  const std::string_view numbers = bytes.substr(kAddressesEnd + kSealHead.size());
  return ClientHeader{
      .client = {addressText(bytes.substr(kHead.size(), kAddressBytes)),
                 static_cast<int>(numberOf(bytes.substr(kHead.size() + 2 * kAddressBytes, 2)))},
      .passer = numberOf(numbers.substr(0, 8)),
      .number = numberOf(numbers.substr(8, 8))};
}

}  // namespace pop::popdistd
