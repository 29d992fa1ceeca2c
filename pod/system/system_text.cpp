// SPDX-License-Identifier: Apache-2.0
// A line is a word and its values; `kLines` has all words.
#include "pod/system/system_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "common/base/similar_word.h"
#include "common/base/text.h"
#include "pod/system/link_configuration.h"
#include "pod/system/topology.h"
#include "pod/system/units.h"
#include "pod/system/what_if.h"

namespace pop::pod {
namespace {

using Words = std::vector<std::string>;

struct RateName {
  std::string_view name;
  LinkKind kind;
  std::uint64_t LinkSpec::*rate;
};
constexpr RateName kLinkRates[] = {{"rung", LinkKind::kRung, &LinkSpec::rung_bytes_per_s},
                                   {"cross-rung", LinkKind::kCrossRung, &LinkSpec::cross_rung_bytes_per_s},
                                   {"rail", LinkKind::kRail, &LinkSpec::rail_bytes_per_s},
                                   {"host-link", LinkKind::kHostLink, &LinkSpec::host_link_bytes_per_s},
                                   {"gw-link", LinkKind::kGwLink, &LinkSpec::gw_link_bytes_per_s}};

struct CostName {
  std::string_view name;
  Picoseconds PodSpec::*cost;
};
constexpr CostName kStepCosts[] = {{"step", &PodSpec::step_cost},
                                   {"sync-hop", &PodSpec::sync_hop_latency},
                                   {"link", &PodSpec::link_latency}};

// The way between two of them is looked for, and not known by a rule.
constexpr int kMaxNodes = 4096;
constexpr std::size_t kMaxWires = 1 << 20;
constexpr Picoseconds kMostCost = std::chrono::hours(1);

Words wordsOf(const std::string& statement) {
  Words words;
  for (std::string& word : split(statement, ' ')) {
    for (std::string& part : split(word, '\t')) {
      if (!trimmed(part).empty()) words.emplace_back(trimmed(part));
    }
  }
  return words;
}

template <typename Row, std::size_t kRows>
Result<const Row*> named(const Row (&table)[kRows], std::string_view name, std::string_view what) {
  std::vector<std::string> names;
  for (const Row& each : table) {
    if (each.name == name) return &each;
    names.emplace_back(each.name);
  }
  return invalidArgument(inQuotes(name) + " is no " + std::string(what) + ": use one of " +
                         join(names, ", "));
}

class SystemReader {
 public:
  Status readLine(std::string_view line);
  Result<PodSpec> finish();

 private:
  struct Line {
    std::string_view word;
    std::string_view values;  ///< for messages
    std::size_t least, most;  ///< number of values
    bool repeats;
    Status (SystemReader::*take)(const Words&);
  };
  static const std::array<Line, 15> kLines;

  Status read(const Words& words);
  Status system(const Words& words);
  Status base(const Words& words);
  Status ilds(const Words& words) { return set(spec_.shape.ilds, words, model::kMaxIlds, true); }
  Status machines(const Words& words) {
    return set(spec_.shape.machines_per_ild, words, model::kMaxIldMachines, true);
  }
  Status perGateway(const Words& words) {
    return set(spec_.machines_per_gateway, words, model::kMaxIldMachines, true);
  }
  Status topology(const Words& words);
  Status gateways(const Words& words);
  Status rate(const Words& words);
  Status cost(const Words& words);
  Status peak(const Words& words);
  Status achieved(const Words& words);
  Status nodes(const Words& words);
  Status link(const Words& words);
  Status remove(const Words& words);
  Status speed(const Words& words);

  Status set(int& number, const Words& words, int most, bool of_shape);
  Status ofShape();

  PodSpec spec_;
  std::set<std::string> seen_;
  std::set<std::pair<int, int>> joined_;
  bool has_shape_ = false;
};

const std::array<SystemReader::Line, 15> SystemReader::kLines = {{
    {"system", "NAME", 1, 1, false, &SystemReader::system},
    {"base", "PRESET", 1, 1, false, &SystemReader::base},
    {"ilds", "NUMBER", 1, 1, false, &SystemReader::ilds},
    {"machines", "NUMBER", 1, 1, false, &SystemReader::machines},
    {"machines-per-gateway", "NUMBER", 1, 1, false, &SystemReader::perGateway},
    {"topology", "mesh, torus or barley-twist", 1, 1, false, &SystemReader::topology},
    {"gateways", "ring or switched", 1, 1, false, &SystemReader::gateways},
    {"rate", "KIND NUMBER UNIT", 3, 3, true, &SystemReader::rate},
    {"cost", "KIND NUMBER UNIT", 3, 3, true, &SystemReader::cost},
    {"peak", "NUMBER Tflop/s", 2, 2, false, &SystemReader::peak},
    {"achieved", "FRACTION", 1, 1, false, &SystemReader::achieved},
    {"nodes", "IPUS [GATEWAYS [SWITCHES]]", 1, 3, false, &SystemReader::nodes},
    {"link", "NODE NODE NUMBER UNIT", 4, 4, true, &SystemReader::link},
    {"remove", "NODE NODE", 2, 2, true, &SystemReader::remove},
    {"speed", "IPU FACTOR", 2, 2, true, &SystemReader::speed},
}};

Status SystemReader::readLine(std::string_view line) {
  for (const std::string& statement : split(line.substr(0, line.find('#')), ';')) {
    const Words words = wordsOf(statement);
    if (!words.empty()) POP_RETURN_IF_ERROR(read(words));
  }
  return {};
}

Status SystemReader::read(const Words& words) {
  const auto line = std::ranges::find(kLines, words.front(), &Line::word);
  if (line == kLines.end()) {
    std::vector<std::string_view> known;
    for (const Line& each : kLines) known.push_back(each.word);
    const std::string_view meant = similarWord(words.front(), known);
    return invalidArgument(inQuotes(words.front()) + " is no word of a system" +
                           (meant.empty() ? "" : ", did you mean " + inQuotes(meant) + "?"));
  }
  const std::string word(line->word);
  if (seen_.empty() && word != "system") return invalidArgument("the first line must be: system NAME");
  if (words.size() - 1 < line->least || words.size() - 1 > line->most)
    return invalidArgument("expected: " + word + " " + std::string(line->values));
  if (!seen_.insert(word).second && !line->repeats) return invalidArgument(word + " is there twice");
  Status taken = (this->*line->take)(words);
  if (!taken.ok()) return invalidArgument(word + ": " + taken.message());
  return {};
}

Status SystemReader::system(const Words& words) {
  if (printable(words[1]) != words[1]) return invalidArgument("the name has characters that cannot be shown");
  spec_.name = words[1];
  return {};
}

Status SystemReader::base(const Words& words) {
  if (seen_.size() > 2) return invalidArgument("it must follow the line 'system'");
  POP_ASSIGN_OR_RETURN(PodSpec preset, podSpecByName(words[1]));
  preset.name = spec_.name;
  spec_ = std::move(preset);
  return {};
}

Status SystemReader::ofShape() {
  has_shape_ = true;
  if (spec_.wiring) return invalidArgument("the system has nodes and links of its own, and so no shape");
  return {};
}

Status SystemReader::set(int& number, const Words& words, int most, bool of_shape) {
  if (of_shape) POP_RETURN_IF_ERROR(ofShape());
  POP_ASSIGN_OR_RETURN(const std::int64_t count, countOf(words[1], most));
  number = static_cast<int>(count);
  return {};
}

Status SystemReader::topology(const Words& words) {
  POP_RETURN_IF_ERROR(ofShape());
  POP_ASSIGN_OR_RETURN(spec_.shape.topology, ildTopologyNamed(words[1]));
  return {};
}

Status SystemReader::gateways(const Words& words) {
  POP_RETURN_IF_ERROR(ofShape());
  if (words[1] != "ring" && words[1] != "switched")
    return invalidArgument(inQuotes(words[1]) + ": use ring or switched");
  spec_.shape.gateways = words[1] == "ring" ? GatewayTopology::kRing : GatewayTopology::kSwitched;
  return {};
}

Status SystemReader::rate(const Words& words) {
  POP_ASSIGN_OR_RETURN(const RateName* name, named(kLinkRates, words[1], "kind of link"));
  if (!seen_.insert("rate " + words[1]).second) return invalidArgument(words[1] + " is there twice");
  POP_RETURN_IF_ERROR(ofShape());
  POP_ASSIGN_OR_RETURN(spec_.links.*name->rate, rateOf(words[2] + " " + words[3]));
  return {};
}

Status SystemReader::cost(const Words& words) {
  POP_ASSIGN_OR_RETURN(const CostName* name, named(kStepCosts, words[1], "cost"));
  if (!seen_.insert("cost " + words[1]).second) return invalidArgument(words[1] + " is there twice");
  POP_ASSIGN_OR_RETURN(spec_.*name->cost, timeOf(words[2] + " " + words[3], kMostCost));
  return {};
}

Status SystemReader::peak(const Words& words) {
  POP_ASSIGN_OR_RETURN(const double peak, numberOf(words[1]));
  if (words[2] != "Tflop/s") return invalidArgument(inQuotes(words[2]) + " is no unit of it: use Tflop/s");
  if (peak < 1e-6 || peak > 1e9) return invalidArgument(words[1] + " Tflop/s is not from 0.000001 to 1e9");
  spec_.ipu_peak_flops_per_s = peak * 1e12;
  return {};
}

Status SystemReader::achieved(const Words& words) {
  POP_ASSIGN_OR_RETURN(const double fraction, numberOf(words[1]));
  if (fraction < 1e-6 || fraction > 1) return invalidArgument(words[1] + " is not from 0.000001 to 1");
  spec_.achieved_fraction = fraction;
  return {};
}

Status SystemReader::nodes(const Words& words) {
  if (has_shape_) return invalidArgument("the system has a shape already, and so no nodes of its own");
  Wiring wiring;
  int* const numbers[] = {&wiring.ipus, &wiring.gateways, &wiring.switches};
  for (std::size_t at = 1; at < words.size(); ++at) {
    POP_ASSIGN_OR_RETURN(const std::int64_t count, countOf(words[at], kMaxNodes));
    *numbers[at - 1] = static_cast<int>(count);
  }
  spec_.wiring = std::move(wiring);
  return {};
}

Status SystemReader::link(const Words& words) {
  if (!spec_.wiring) return invalidArgument("a line 'nodes' must come before it");
  Wire wire;
  POP_ASSIGN_OR_RETURN(wire.a, nodeNamed(spec_, words[1]));
  POP_ASSIGN_OR_RETURN(wire.b, nodeNamed(spec_, words[2]));
  if (wire.a == wire.b) return invalidArgument(words[1] + " is joined to itself");
  if (!joined_.insert(std::minmax(wire.a, wire.b)).second)
    return invalidArgument(words[1] + " and " + words[2] + " are joined already: add the rates");
  POP_ASSIGN_OR_RETURN(wire.bytes_per_s, rateOf(words[3] + " " + words[4]));
  const int ipus = (wire.a < spec_.wiring->ipus ? 1 : 0) + (wire.b < spec_.wiring->ipus ? 1 : 0);
  wire.kind = ipus == 2 ? LinkKind::kRail : ipus == 1 ? LinkKind::kHostLink : LinkKind::kGwLink;
  if (spec_.wiring->wires.size() >= kMaxWires)
    return {Code::kResourceExhausted, "a system has at most " + std::to_string(kMaxWires) + " links"};
  spec_.wiring->wires.push_back(wire);
  return {};
}

Status SystemReader::remove(const Words& words) {
  return removeLinks(spec_, words[1], words[2]);
}

Status SystemReader::speed(const Words& words) {
  POP_ASSIGN_OR_RETURN(const double factor, numberOf(words[2]));
  return setSpeed(spec_, words[1], factor);
}

Result<PodSpec> SystemReader::finish() {
  if (seen_.empty()) return invalidArgument("the first line must be: system NAME");
  if (!isConnected(Topology(spec_)))
    return invalidArgument("some IPUs of " + spec_.name + " are not joined to the others: add links");
  return std::move(spec_);
}

std::string wiringText(const PodSpec& spec) {
  const Wiring& wiring = *spec.wiring;
  std::string text = "nodes " + std::to_string(wiring.ipus);
  if (wiring.gateways > 0 || wiring.switches > 0) text += " " + std::to_string(wiring.gateways);
  if (wiring.switches > 0) text += " " + std::to_string(wiring.switches);
  text += "\n";
  for (const Wire& wire : wiring.wires)
    text += "link " + nodeName(spec, wire.a) + " " + nodeName(spec, wire.b) + " " +
            rateText(wire.bytes_per_s) + "\n";
  return text;
}

std::string shapeText(const PodSpec& spec) {
  std::string text = "ilds " + std::to_string(spec.shape.ilds) + "\nmachines " +
                     std::to_string(spec.shape.machines_per_ild) + "\nmachines-per-gateway " +
                     std::to_string(spec.machines_per_gateway) + "\ntopology " +
                     std::string(nameOf(spec.shape.topology)) + "\ngateways " +
                     (spec.shape.gateways == GatewayTopology::kRing ? "ring\n" : "switched\n");
  for (const RateName& rate : kLinkRates)
    text += "rate " + std::string(rate.name) + " " + rateText(spec.links.*rate.rate) + "\n";
  return text;
}

}  // namespace

Result<PodSpec> systemFromText(std::string_view text, std::string_view file) {
  SystemReader reader;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const Status read = reader.readLine(line);
    if (!read.ok())
      return invalidArgument(std::string(file) + ":" + std::to_string(number) + ": " + read.message());
  }
  Result<PodSpec> spec = reader.finish();
  if (!spec.ok()) return invalidArgument(std::string(file) + ": " + spec.status().message());
  return spec;
}

std::string systemText(const PodSpec& spec) {
  std::string text = "system " + spec.name + "\n" + (spec.wiring ? wiringText(spec) : shapeText(spec));
  for (const CostName& cost : kStepCosts)
    text += "cost " + std::string(cost.name) + " " + timeText(spec.*cost.cost) + "\n";
  text += "peak " + numberText(spec.ipu_peak_flops_per_s / 1e12) + " Tflop/s\nachieved " +
          numberText(spec.achieved_fraction) + "\n";
  for (const auto& [a, b] : spec.removed_links)
    text += "remove " + nodeName(spec, a) + " " + nodeName(spec, b) + "\n";
  for (const auto& [ipu, factor] : spec.speed_of_ipu)
    text += "speed " + nodeName(spec, ipu) + " " + numberText(factor) + "\n";
  return text;
}

std::string systemLine(const PodSpec& spec) {
  std::vector<std::string> lines = split(systemText(spec), '\n');
  if (lines.back().empty()) lines.pop_back();
  return join(lines, "; ");
}

}  // namespace pop::pod
