// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/fences.h"

#include <algorithm>

#include "common/base/text.h"
#include "libpopdist/collectives/cluster/link/wire.h"

namespace popdist::cluster {
namespace {

using context::LinkError;
using pop::Code;

constexpr std::size_t kShownTagBytes = 200;
constexpr std::size_t kMostNames = 8;

}  // namespace

Fences::Fences(std::vector<std::string> names) : names_(std::move(names)) {}

// Beyond the limit nothing is kept: the fence says so.
void Fences::put(std::string key, std::string value) {
  staged_bytes_ += key.size() + value.size();
  if (staged_bytes_ > kMostPutBytes) return staged_.clear();
  staged_.emplace_back(std::move(key), std::move(value));
}

std::vector<Answer> Fences::answerAll(const LinkError& error) {
  std::vector<Answer> answers;
  for (auto& [instance, entry] : std::exchange(inside_, {})) answers.push_back({instance, entry.call, error});
  return answers;
}

std::vector<Answer> Fences::enter(int instance, std::string call, std::string tag) {
  if (first_end_) return {{instance, std::move(call), *first_end_}};
  inside_.insert_or_assign(instance, Entry{std::move(call), tag});
  for (const auto& [other, entry] : inside_) {
    if (entry.tag == tag) continue;
    return answerAll({{Code::kFailedPrecondition,
                       "the instances are in different calls: instance " + std::to_string(other) + " in " +
                           pop::inQuotes(entry.tag.substr(0, kShownTagBytes)) + ", instance " +
                           std::to_string(instance) + " in " + pop::inQuotes(tag.substr(0, kShownTagBytes))},
                      instance});
  }
  if (inside_.size() < names_.size()) return {};
  const bool is_too_much = std::exchange(staged_bytes_, 0) > kMostPutBytes;
  released_ = std::exchange(staged_, {});
  if (is_too_much) {
    return answerAll(
        {{Code::kResourceExhausted, "the instances have put more than 64 MiB for one fence (Context::put)"}});
  }
  ++opened_;
  return answerAll({});
}

std::vector<Answer> Fences::ended(int instance, const std::string& text) {
  if (!first_end_) first_end_ = LinkError{pop::unavailable(text), instance};
  inside_.erase(instance);
  return answerAll(*first_end_);
}

std::vector<Answer> Fences::timeIsUp(int instance, const std::string& hint) {
  const auto found = inside_.find(instance);
  if (found == inside_.end()) return {};
  LinkError error = whoIsMissing();
  if (isFirst()) {  // one that is not there is the same loss for all, and all should say so
    error.status = {error.status.code(), error.status.message() + hint};
    return answerAll(error);
  }
  Answer answer{instance, found->second.call, std::move(error)};
  inside_.erase(found);
  return {std::move(answer)};
}

LinkError Fences::whoIsMissing() const {
  std::vector<std::string> missing;
  int first = -1;
  std::size_t more = 0;
  for (int i = 0; i < static_cast<int>(names_.size()); ++i) {
    if (inside_.contains(i)) continue;
    if (first < 0) first = i;
    if (missing.size() == kMostNames) {
      ++more;
    } else {
      missing.push_back(names_[static_cast<std::size_t>(i)]);
    }
  }
  std::string text = pop::join(missing, ", ");
  if (more > 0) text += " and " + std::to_string(more) + " more";
  text += missing.size() == 1 ? " has" : " have";
  text += isFirst() ? " not come in time" : " not entered the fence in time (Context::setTimeout)";
  return {{Code::kDeadlineExceeded, std::move(text)}, first};
}

}  // namespace popdist::cluster
