// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/holder_id.h"

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

constexpr std::string_view kProgram = "program ";  // then its token, a blank, its user and the text
constexpr std::string_view kAfterUser = ": ";      // no user's name has it

}  // namespace

std::string holderOf(std::int64_t job) {
  return std::to_string(job);
}

std::string holderOf(std::string_view token, std::string_view user, std::string_view text) {
  return std::string(kProgram) + std::string(token) + ' ' + std::string(user) + std::string(kAfterUser) +
         std::string(text);
}

std::optional<std::int64_t> jobOf(std::string_view holder) {
  const Result<std::int64_t> number = parseInteger(holder);
  return number.ok() ? std::optional(number.value()) : std::nullopt;
}

std::string tokenOf(std::string_view holder) {
  if (!holder.starts_with(kProgram)) return "";
  holder.remove_prefix(kProgram.size());
  return std::string(holder.substr(0, holder.find(' ')));
}

std::string programsUser(std::string_view holder) {
  if (tokenOf(holder).empty()) return "";
  const std::string text = holderText(holder);
  return text.substr(0, text.find(kAfterUser));
}

std::string holderText(std::string_view holder) {
  const std::string token = tokenOf(holder);
  if (token.empty()) return "job " + std::string(holder);
  return std::string(holder.substr(std::min(holder.size(), kProgram.size() + token.size() + 1)));
}

}  // namespace pop::popdistd
