// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/proposal.h"

#include <algorithm>

#include "common/base/text.h"
#include "libpopdist/collectives/group/collective_call.h"

namespace popdist::group {
namespace {

constexpr std::size_t kFieldsBeforeOffers = 4;

}  // namespace

std::string setOf(const std::vector<int>& instance_of_rank) {
  constexpr std::size_t kMostLetters = 48;
  std::vector<int> instances = instance_of_rank;
  instances.erase(std::unique(instances.begin(), instances.end()), instances.end());
  std::string text = instances.size() == 1 ? "instance " : "instances ";
  const std::size_t before = text.size();
  for (std::size_t first = 0; first < instances.size();) {
    std::size_t last = first;
    while (last + 1 < instances.size() && instances[last + 1] == instances[last] + 1) ++last;
    text += (text.size() == before ? "" : ", ") + std::to_string(instances[first]);
    if (last > first) text += (last == first + 1 ? ", " : "-") + std::to_string(instances[last]);
    first = last + 1;
  }
  const std::string number = " (" + std::to_string(digestOf(instance_of_rank)) + ')';
  if (text.size() > kMostLetters) return text.substr(0, text.rfind(',', kMostLetters)) + ", …" + number;
  if (instances.size() == instance_of_rank.size()) return text;
  return text + " with " + std::to_string(instance_of_rank.size()) + " replicas" + number;
}

int Proposal::leader() const {
  return *std::min_element(instance_of_rank.begin(), instance_of_rank.end());
}

void appendValues(const context::Link::Values& values, std::vector<std::string>& fields) {
  for (const auto& [key, value] : values) fields.insert(fields.end(), {key, value});
}

std::optional<context::Link::Values> valuesFrom(const std::vector<std::string>& fields, std::size_t first) {
  if (fields.size() < first || (fields.size() - first) % 2 != 0) return std::nullopt;
  context::Link::Values values;
  for (std::size_t i = first; i < fields.size(); i += 2) values.insert_or_assign(fields[i], fields[i + 1]);
  return values;
}

std::vector<std::string> Proposal::toFields() const {
  std::vector<std::string> instances;
  for (const int instance : instance_of_rank) instances.push_back(std::to_string(instance));
  std::vector<std::string> fields{name, std::to_string(round), pop::join(instances, ","), settings};
  appendValues(offers, fields);
  return fields;
}

std::optional<Proposal> Proposal::fromFields(const std::vector<std::string>& fields) {
  std::optional<context::Link::Values> offers = valuesFrom(fields, kFieldsBeforeOffers);
  if (!offers) return std::nullopt;
  pop::Result<std::int64_t> round = pop::parseInteger(fields[1]);
  Proposal proposal{.name = fields[0], .settings = fields[3], .offers = std::move(*offers)};
  const std::vector<std::string> instances = pop::split(fields[2], ',');
  for (const std::string& each : instances) {
    pop::Result<std::int64_t> instance = pop::parseInteger(each);
    if (!instance.ok() || *instance < 0 || *instance > INT32_MAX) return std::nullopt;
    proposal.instance_of_rank.push_back(static_cast<int>(*instance));
  }
  if (!round.ok()) return std::nullopt;
  proposal.round = static_cast<int>(*round);
  return proposal;
}

}  // namespace popdist::group
