// SPDX-License-Identifier: Apache-2.0
#include "controller/core/host_failures.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <utility>

#include "common/base/text.h"

namespace pop {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kMostNames = 16;

// ---- names

// "node07" as "node", 7; without a number, or one that begins with 0, as itself.
std::pair<std::string, std::int64_t> splitNumber(const std::string& name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const Result<std::int64_t> number = parseInteger(std::string_view(name).substr(digits));
  if (!number.ok() || (name[digits] == '0' && digits + 1 < name.size())) return {name, -1};
  return {name.substr(0, digits), number.value()};
}

// x1, x2, x3, y as "x[1-3]", "y".
Names inRanges(const Names& names) {
  constexpr std::size_t kLeastInRange = 3;
  Names items;
  for (std::size_t first = 0; first < names.size();) {
    const auto [prefix, number] = splitNumber(names[first]);
    std::size_t end = first + 1;
    while (number >= 0 && end < names.size() &&
           splitNumber(names[end]) == std::pair(prefix, number + static_cast<std::int64_t>(end - first)))
      ++end;
    if (end - first >= kLeastInRange) {
      const std::int64_t last = number + static_cast<std::int64_t>(end - first) - 1;
      items.push_back(prefix + '[' + std::to_string(number) + '-' + std::to_string(last) + ']');
    } else {
      items.insert(items.end(), names.begin() + static_cast<std::ptrdiff_t>(first),
                   names.begin() + static_cast<std::ptrdiff_t>(end));
    }
    first = end;
  }
  return items;
}

// "host a", "hosts a and b", "hosts x[1-20]", "hosts a, b and 7 others"
std::string namesOf(const Names& hosts) {
  constexpr std::size_t kFewNames = 4;
  if (hosts.size() == 1) return "host " + hosts.front();
  Names items = hosts.size() > kFewNames ? inRanges(hosts) : hosts;
  if (items.size() == 1) return "hosts " + items.front();
  std::string last = items.back();
  items.pop_back();
  if (items.size() >= kMostNames) {
    last = std::to_string(items.size() + 1 - kMostNames) + " others";
    items.resize(kMostNames);
  }
  return "hosts " + join(items, ", ") + " and " + last;
}

// ---- reasons that differ only in what is each host's own

enum class Own : char { kName = '\x01', kAddress = '\x02', kFingerprint = '\x03' };

struct Reason {
  std::string form;  ///< with an Own in the place of each of `values`
  Names values;
};

bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

// Length of the host's own part of `text`; 0: none.
std::pair<std::size_t, Own> ownAt(std::string_view text, std::string_view host) {
  constexpr std::string_view kHash = "SHA256:";
  if (text.starts_with(host) && (text.size() == host.size() || !isWordChar(text[host.size()])))
    return {host.size(), Own::kName};
  if (text.starts_with(kHash)) {
    const auto end = std::find_if(text.begin() + kHash.size(), text.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '/';
    });
    return {static_cast<std::size_t>(end - text.begin()), Own::kFingerprint};
  }
  const std::string_view address = text.substr(0, text.find_first_not_of("0123456789."));
  const bool is_address = std::count(address.begin(), address.end(), '.') == 3 && !address.ends_with('.');
  return {is_address ? address.size() : 0, Own::kAddress};
}

Reason reasonOf(const HostFailure& failure) {
  Reason reason;
  const std::string text = printable(failure.reason);  // a host may have said it
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_word = at == 0 || !isWordChar(text[at - 1]);
    const auto [bytes, own] = begins_word && !failure.host.empty()
                                  ? ownAt(std::string_view(text).substr(at), failure.host)
                                  : std::pair<std::size_t, Own>();
    if (bytes == 0) {
      reason.form += text[at++];
      continue;
    }
    reason.form += static_cast<char>(own);
    reason.values.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return reason;
}

struct Group {
  std::string form;
  Names hosts;
  std::vector<Names> values;  ///< each host's
};

// The `index`-th of the values of all hosts, after `before`.
std::string valuesOf(const Group& group, std::size_t index, Own own, const std::string& before) {
  Names all;
  for (std::size_t host = 0; host < group.hosts.size(); ++host) {
    const std::string& value = group.values[host][index];
    all.push_back(own == Own::kFingerprint ? value + " (" + group.hosts[host] + ')' : value);
  }
  const std::size_t command = before.rfind("ssh-keyscan ");
  const bool is_argument = command != std::string::npos && before.find('>', command) == std::string::npos;
  if (own == Own::kName && is_argument) return join(all, " ");
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (own != Own::kFingerprint) all = inRanges(all);
  if (all.size() > kMostNames) {
    all.resize(kMostNames);
    all.emplace_back("…");
  }
  return join(all, ", ");
}

std::string reasonFor(const Group& group) {
  std::string text;
  std::size_t index = 0;
  for (const char c : group.form) {
    const auto own = static_cast<Own>(c);
    const bool varies = own == Own::kName || own == Own::kAddress || own == Own::kFingerprint;
    text += varies ? valuesOf(group, index++, own, text) : std::string(1, c);
  }
  return text;
}

std::vector<Group> groupsOf(const std::vector<HostFailure>& failures) {
  std::vector<Group> groups;  // in the order of their first
  std::map<std::string, std::size_t> group_of;
  for (const HostFailure& failure : failures) {
    Reason reason = reasonOf(failure);
    const auto [found, is_new] = group_of.emplace(reason.form, groups.size());
    if (is_new) groups.push_back({reason.form, {}, {}});
    groups[found->second].hosts.push_back(failure.host);
    groups[found->second].values.push_back(std::move(reason.values));
  }
  return groups;
}

}  // namespace

std::string describeHosts(const std::vector<HostFailure>& failures, bool lost, std::string_view separator) {
  Names sentences;
  for (const Group& group : groupsOf(failures)) {
    const char* verb = !lost ? "" : group.hosts.size() == 1 ? " was lost" : " were lost";
    sentences.push_back(namesOf(group.hosts) + verb + ": " + reasonFor(group));
  }
  return join(sentences, separator);
}

}  // namespace pop
