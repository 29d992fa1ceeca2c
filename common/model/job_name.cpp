// SPDX-License-Identifier: Apache-2.0
#include "common/model/job_name.h"

#include <cstddef>

namespace pop::model {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
constexpr std::size_t kMaxNameBytes = 64;

}  // namespace

bool isJobName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         text.find_first_not_of(kOfNames) == std::string_view::npos &&
         text.find_first_not_of(kDigits) != std::string_view::npos;
}

}  // namespace pop::model
