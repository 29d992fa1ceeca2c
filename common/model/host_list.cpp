// SPDX-License-Identifier: Apache-2.0
#include "common/model/host_list.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "common/model/ipv6_address.h"

namespace pop::model {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kMaxHosts = 65536;
constexpr std::int64_t kMaxSlots = 65536;
constexpr int kNoSlots = -1;  // said of a host on which nothing runs
constexpr std::string_view kBlanks = " \t\r\f";

// Digits, which may begin with many zeros.
std::optional<std::int64_t> numberIn(std::string_view text) {
  constexpr std::size_t kMaxWidth = 64;
  constexpr std::size_t kMaxDigits = 18;
  const bool digits =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (text.empty() || text.size() > kMaxWidth || !digits) return std::nullopt;
  const std::string_view number = text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
  if (number.size() > kMaxDigits) return std::nullopt;
  return parseInteger(number).value();
}

std::string hintFor(std::string_view name) {
  if (name.find('@') != std::string_view::npos) return ": set the login name with `User` in ~/.ssh/config";
  if (name.find(':') == std::string_view::npos) return {};
  return ": a name with several ':' must be an IPv6 address (set the port with `Port` in ~/.ssh/config)";
}

// Letters, digits, '.', '-' and '_'; ':' and '%' in addresses. A name must not begin with '-': other programs
// would take it for an option.
Status checkName(std::string_view name) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view(".-_").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (name.front() != '-' && std::all_of(name.begin(), name.end(), fits)) return {};
  if (isIpv6Address(name)) return {};
  return invalidArgument(inQuotes(name) + " is not a host name" + hintFor(name));
}

// "08": keeps leading zeros if the range began with some.
std::string padded(std::int64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

// "0-2,4" → its numbers as text.
Result<Names> expandRanges(std::string_view ranges, std::size_t most) {
  Names numbers;
  for (const std::string& range : split(ranges, ',')) {
    const std::size_t dash = range.find('-');
    const std::string first = range.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
    const std::optional<std::int64_t> from = numberIn(first);
    const std::optional<std::int64_t> to = numberIn(last);
    if (!from || !to || *to < *from) {
      return invalidArgument(inQuotes(range) + " is not a number or a range such as 0-3, in [" +
                             std::string(ranges) + ']');
    }
    const std::size_t width = first.front() == '0' ? first.size() : 0;
    for (std::int64_t number = *from; number <= *to; ++number) {
      if (numbers.size() >= most) return invalidArgument("more than " + std::to_string(kMaxHosts) + " hosts");
      numbers.push_back(padded(number, width));
    }
  }
  return numbers;
}

// "rack[0-1]node[0-3]" → every combination, the last bracket fastest.
Result<Names> expandName(std::string_view name) {
  Names expanded{""};
  while (true) {
    const std::size_t open = name.find('[');
    for (std::string& each : expanded) each += name.substr(0, open);
    if (open == std::string_view::npos) return expanded;
    const std::size_t close = name.find(']', open);
    if (close == std::string_view::npos) return invalidArgument(inQuotes(name) + " has no ']' after its '['");
    POP_ASSIGN_OR_RETURN(const Names numbers,
                         expandRanges(name.substr(open + 1, close - open - 1), kMaxHosts / expanded.size()));
    Names longer;
    for (const std::string& each : expanded) {
      for (const std::string& number : numbers) longer.push_back(each + number);
    }
    expanded = std::move(longer);
    name.remove_prefix(close + 1);
  }
}

// The position of the slots: after the only ':' outside brackets. Two of them make an IPv6 address.
std::size_t slotsColon(std::string_view item) {
  std::size_t colon = std::string_view::npos;
  int depth = 0;
  for (std::size_t at = 0; at < item.size(); ++at) {
    depth += item[at] == '[' ? 1 : item[at] == ']' ? -1 : 0;
    if (item[at] != ':' || depth > 0) continue;
    if (colon != std::string_view::npos) return std::string_view::npos;
    colon = at;
  }
  return colon;
}

std::optional<int> slotsIn(std::string_view text) {
  const std::optional<std::int64_t> number = numberIn(text);
  if (!number || *number > kMaxSlots) return std::nullopt;
  return *number == 0 ? kNoSlots : static_cast<int>(*number);
}

Result<std::vector<Host>> parseItem(std::string_view item) {
  const std::size_t colon = slotsColon(item);
  int slots = 0;
  if (colon != std::string_view::npos) {
    const std::optional<int> number = slotsIn(item.substr(colon + 1));
    if (!number)
      return invalidArgument(inQuotes(item) + ": ':' must be followed by a number of slots from 0 to " +
                             std::to_string(kMaxSlots));
    slots = *number;
  }
  const std::string_view name = item.substr(0, colon);
  const bool is_address =
      name.starts_with('[') && name.ends_with(']') && name.find(':') != std::string_view::npos;
  Result<Names> names = is_address ? Names{std::string(name.substr(1, name.size() - 2))} : expandName(name);
  if (!names.ok()) return names.status();
  std::vector<Host> hosts;
  for (std::string& each : *names) {
    if (each.empty()) return invalidArgument(inQuotes(item) + " has an empty host name");
    POP_RETURN_IF_ERROR(checkName(each));
    hosts.push_back({std::move(each), slots});
  }
  return hosts;
}

// Commas inside brackets separate ranges.
Names splitOutsideBrackets(std::string_view text) {
  Names items{""};
  bool inside = false;
  for (const char c : text) {
    inside = c == '[' || (inside && c != ']');
    if (c == ',' && !inside) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  return items;
}

// The hosts of all parts of a text, or its first few mistakes. A short text can stand for many hosts, so
// reading stops at the limit.
class HostCollector {
 public:
  // A host that is named again has more slots: one, or as many as are said of it.
  void take(Result<std::vector<Host>> more, const std::string& where) {
    if (!more.ok()) return mistake(where + more.status().message());
    for (Host& host : *more) {
      const auto [known, is_new] = seen_.emplace(host.name, hosts_.size());
      if (!is_new) {
        Host& first = hosts_[known->second];
        first.slots = slotsTogether(first, host);
        if (first.slots > kMaxSlots) {
          return mistake(where + host.name + " has more than " + std::to_string(kMaxSlots) + " slots");
        }
        continue;
      }
      if (hosts_.size() >= kMaxHosts) {
        full_ = true;
        return;
      }
      hosts_.push_back(std::move(host));
    }
  }

  void mistake(std::string text) {
    if (std::find(mistakes_.begin(), mistakes_.end(), text) != mistakes_.end()) return;
    mistakes_.push_back(std::move(text));
  }

  bool enough() const { return full_ || mistakes_.size() >= kMaxMistakes; }

  /// `nothing` says that no host has a slot.
  Result<std::vector<Host>> result(const std::string& nothing) {
    if (full_) mistake("more than " + std::to_string(kMaxHosts) + " hosts");
    if (mistakes_.size() >= kMaxMistakes) mistake("the rest was not read");
    std::erase_if(hosts_, [](const Host& host) { return host.slots == kNoSlots; });
    if (mistakes_.empty() && hosts_.empty()) mistake(nothing);
    if (!mistakes_.empty()) return invalidArgument(join(mistakes_, "; "));
    return std::move(hosts_);
  }

 private:
  static constexpr std::size_t kMaxMistakes = 8;

  static int slotsTogether(const Host& a, const Host& b) {
    if (a.slots == kNoSlots) return b.slots == 0 ? 1 : b.slots;
    return slotsOf(a) + (b.slots == kNoSlots ? 0 : slotsOf(b));
  }

  std::vector<Host> hosts_;
  std::map<std::string, std::size_t, std::less<>> seen_;  ///< index of each among them
  std::vector<std::string> mistakes_;
  bool full_ = false;
};

// "slots = 4": the word before '=' and the value after it. Takes them off `rest`.
std::pair<std::string_view, std::string_view> takeSetting(std::string_view& rest) {
  const std::string separators = std::string(kBlanks) + '=';
  const std::string_view key = rest.substr(0, rest.find_first_of(separators));
  rest = trimmed(rest.substr(key.size()));
  if (!rest.starts_with('=')) return {key, {}};
  rest = trimmed(rest.substr(1));
  const std::string_view value = rest.substr(0, rest.find_first_of(kBlanks));
  rest = trimmed(rest.substr(value.size()));
  return {key, value};
}

std::string afterHostHint(std::string_view key) {
  if (key == "username" || key == "user_name" || key == "user-name" || key == "user")
    return ": set the login name with `User` in ~/.ssh/config";
  return ": only slots=N and max_slots=N can follow a host";
}

// "node1 slots=4 max_slots=8", with Open MPI's other words for them.
Result<std::vector<Host>> parseLine(std::string_view line) {
  const std::size_t blank = line.find_first_of(kBlanks);
  POP_ASSIGN_OR_RETURN(std::vector<Host> hosts, parseItem(line.substr(0, blank)));
  std::string_view rest = blank == std::string_view::npos ? "" : trimmed(line.substr(blank));
  std::optional<int> slots;
  if (hosts.front().slots != 0) slots = hosts.front().slots;
  std::optional<int> most;
  while (!rest.empty()) {
    const auto [key, value] = takeSetting(rest);
    const bool is_slots = key == "slots" || key == "cpu" || key == "count";
    const bool is_most = key == "max_slots" || key == "max-slots" || key == "slots_max" || key == "slots-max";
    if (!is_slots && !is_most) return invalidArgument(inQuotes(key) + afterHostHint(key));
    const std::optional<int> number = slotsIn(value);
    const std::string written = std::string(key) + '=' + std::string(value);
    if (!number)
      return invalidArgument(inQuotes(written) + ": slots must be a number from 0 to " +
                             std::to_string(kMaxSlots));
    std::optional<int>& said = is_slots ? slots : most;
    if (said) return invalidArgument(inQuotes(written) + ": the slots of a host are given twice");
    said = number;
  }
  if (most && slots.value_or(0) > *most)
    return invalidArgument("max_slots=" + std::to_string(std::max(*most, 0)) + " is less than the " +
                           counted(*slots, "slot"));
  for (Host& host : hosts) host.slots = slots.value_or(most.value_or(0));
  return hosts;
}

// Without "# …", "// …" and "/* … */", in the same lines.
std::string withoutComments(std::string_view text) {
  std::string rest;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view two = text.substr(at, 2);
    if (two == "/*") {
      const std::size_t end = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
      rest += ' ';
      for (; at < end; ++at)
        if (text[at] == '\n') rest += '\n';
    } else if (text[at] == '#' || two == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else {
      rest += text[at++];
    }
  }
  return rest;
}

}  // namespace

Result<std::vector<Host>> parseHostList(std::string_view text) {
  HostCollector hosts;
  for (const std::string& each : splitOutsideBrackets(text)) {
    if (hosts.enough()) break;
    const std::string_view item = trimmed(each);
    if (item.empty()) {
      hosts.mistake(inQuotes(text) + " has an empty host name");
    } else {
      hosts.take(parseItem(item), {});
    }
  }
  return hosts.result(inQuotes(text) + " has no host with a slot");
}

Result<std::vector<Host>> parseHostfile(std::string_view text, std::string_view file) {
  HostCollector hosts;
  int number = 0;
  bool empty = true;
  for (const std::string& each : split(withoutComments(text), '\n')) {
    ++number;
    const std::string_view line = trimmed(each);
    if (hosts.enough()) break;
    if (line.empty()) continue;
    empty = false;
    hosts.take(parseLine(line), std::string(file) + ':' + std::to_string(number) + ": ");
  }
  if (empty) return invalidArgument(std::string(file) + ": names no host");
  return hosts.result(std::string(file) + ": has no host with a slot");
}

bool isThisHost(std::string_view host, std::string_view own_name) {
  const std::string name = lowerCase(host);
  return name == "localhost" || name == "127.0.0.1" || name == "::1" || name == lowerCase(own_name);
}

}  // namespace pop::model
