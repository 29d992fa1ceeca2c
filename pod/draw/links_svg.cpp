// SPDX-License-Identifier: Apache-2.0
#include "pod/draw/links_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace pop::pod::draw {
namespace {

namespace svg = svg_text;

constexpr Tenths kWidest = 60, kThinnest = 8, kBetweenParallel = 80, kLegendLine = 220;
constexpr Tenths kToBus = 130, kBelowSquare = 60;

struct KindWords {
  LinkKind kind;
  std::string_view style;
  std::string_view meaning;
};

constexpr std::array kKinds{
    KindWords{LinkKind::kRail, "rail", "IPU-Links to the next row"},
    KindWords{LinkKind::kRung, "rung", "IPU-Links of a row, for traffic that ends there"},
    KindWords{LinkKind::kCrossRung, "cross", "IPU-Links of a row, for traffic that goes on"},
    KindWords{LinkKind::kHostLink, "host", "Host-Link to a gateway"},
    KindWords{LinkKind::kGwLink, "gateway-link", "GW-Link of a gateway"}};

const KindWords& wordsOf(LinkKind kind) {
  return *std::ranges::find(kKinds, kind, &KindWords::kind);
}

// "58.4": GB/s.
std::string gigabytes(std::uint64_t bytes_per_s) {
  const std::uint64_t tenths = (bytes_per_s + 50'000'000) / 100'000'000;
  if (tenths == 0) return "under 0.1";
  return svg::px(static_cast<Tenths>(tenths));
}

std::string curve(Point from, Point control, Point control_to, Point to, const std::string& style,
                  const std::string& more) {
  const auto place = [](Point at) { return svg::px(at.x) + " " + svg::px(at.y); };
  return "<path" +
         svg::attribute(
             "d", "M" + place(from) + "C" + place(control) + " " + place(control_to) + " " + place(to)) +
         svg::attribute("class", style) + more + "/>\n";
}

// A cable that goes by at the side, at `x`, so that it touches neither names nor gateways.
std::string aside(Point from, Point to, Tenths x, const std::string& style, const std::string& more) {
  return "<path" +
         svg::attribute("d", "M" + svg::px(from.x) + " " + svg::px(from.y) + "H" + svg::px(x) + "V" +
                                 svg::px(to.y) + "H" + svg::px(to.x)) +
         svg::attribute("stroke-linejoin", "round") + svg::attribute("class", style) + more + "/>\n";
}

}  // namespace

LinksSvg::LinksSvg(const PodSpec& spec, const Topology& topology, const Placement& placement)
    : spec_(spec), topology_(topology), placement_(placement) {
  for (const auto& [a, b] : spec.removed_links) {
    removed_.emplace(a, b);
    removed_.emplace(b, a);
  }
  for (const Link& link : topology.links()) {
    Rates& rates = rates_.try_emplace(link.kind, Rates{link.bytes_per_s, link.bytes_per_s}).first->second;
    rates.least = std::min(rates.least, link.bytes_per_s);
    rates.most = std::max(rates.most, link.bytes_per_s);
    most_ = std::max(most_, link.bytes_per_s);
  }
}

std::string LinksSvg::strokeWidth(std::uint64_t bytes_per_s) const {
  const double part = static_cast<double>(bytes_per_s) / static_cast<double>(most_);
  const Tenths width = std::max(kThinnest, static_cast<Tenths>(std::lround(part * double{kWidest})));
  return svg::attribute("stroke-width", svg::px(width));
}

std::string LinksSvg::look(const Link& link) const {
  return "link " + std::string(isRemoved(link) ? "removed" : wordsOf(link.kind).style);
}

// A server's gateway has many host links, which come to it over one bus; those of the left column between the
// rows.
std::string LinksSvg::onBus(const Link& link) const {
  Point from = placement_.middleOf(link.from);
  const Point gateway = placement_.middleOf(link.to);
  const Tenths bus = gateway.x - kGatewayWidth / 2 - kToBus;
  const bool is_left = placement_.isLeft(link.from);
  from.x += kSquare / 2 - (is_left ? kBelowSquare : 0);
  from.y += is_left ? kSquare / 2 : 0;
  const std::string down = is_left ? "v" + svg::px(kBelowSquare) : "";
  return "<path" +
         svg::attribute("d", "M" + svg::px(from.x) + " " + svg::px(from.y) + down + "H" + svg::px(bus) + "V" +
                                 svg::px(gateway.y) + "H" + svg::px(gateway.x)) +
         svg::attribute("class", look(link)) + strokeWidth(link.bytes_per_s) + "/>\n";
}

std::string LinksSvg::hostLink(const Link& link) const {
  // From the corner that faces the gateway, so that the line goes by the other column's square.
  Point from = placement_.middleOf(link.from);
  Point to = placement_.middleOf(link.to);
  const Tenths side = from.y < to.y ? -1 : 1;
  from = {from.x + kSquare / 2 - 30, from.y - side * (kSquare / 2 - 20)};
  to = {to.x - kGatewayWidth / 2, to.y + side * kGatewayHeight / 4};
  return svg::line(from, to, look(link), strokeWidth(link.bytes_per_s));
}

// `index`: its place among the `parallel` links between the same nodes, which lie side by side.
std::string LinksSvg::one(const Link& link, int index, int parallel) const {
  if (link.kind == LinkKind::kHostLink && !spec_.wiring)
    return spec_.machines_per_gateway > 1 ? onBus(link) : hostLink(link);
  Point from = placement_.middleOf(link.from);
  Point to = placement_.middleOf(link.to);
  const std::string more = strokeWidth(link.bytes_per_s);
  if (placement_.isLoop(link)) {
    const Point tip = placement_.loopTip(link);
    const Tenths edge = tip.x < from.x ? -kSquare / 2 : kSquare / 2;
    from.x += edge;
    to.x += edge;
    return aside(from, to, tip.x, look(link), more);
  }
  const double length =
      std::max(1.0, std::hypot(static_cast<double>(to.x - from.x), static_cast<double>(to.y - from.y)));
  const double offset = (index - (parallel - 1) / 2.0) * double{kBetweenParallel} / length;
  const Tenths dx = std::llround(-offset * static_cast<double>(to.y - from.y));
  const Tenths dy = std::llround(offset * static_cast<double>(to.x - from.x));
  if (const Tenths bow = placement_.bowOf(link); bow != 0) {
    const double out = static_cast<double>(bow) / length;
    const Tenths out_x = std::llround(-out * static_cast<double>(to.y - from.y));
    const Tenths out_y = std::llround(out * static_cast<double>(to.x - from.x));
    return curve(from, {from.x + out_x, from.y + out_y}, {to.x + out_x, to.y + out_y}, to, look(link), more);
  }
  return svg::line({from.x + dx, from.y + dy}, {to.x + dx, to.y + dy}, look(link), more);
}

std::string LinksSvg::text() const {
  std::map<std::pair<int, int>, int> parallel, drawn;
  const auto isDrawnAlone = [&](const Link& link) {
    const bool is_bundled = link.kind == LinkKind::kGwLink && !spec_.wiring;
    return !is_bundled && link.id % 2 == 0 && placement_.isDrawn(link.from) && placement_.isDrawn(link.to);
  };
  for (const Link& link : topology_.links()) {
    if (isDrawnAlone(link)) ++parallel[std::minmax(link.from, link.to)];
  }
  std::string above, below;
  for (const Link& link : topology_.links()) {
    if (!isDrawnAlone(link)) continue;
    const std::pair<int, int> ends = std::minmax(link.from, link.to);
    std::string& text = link.kind == LinkKind::kHostLink ? below : above;
    text += one(link, drawn[ends]++, parallel[ends]);
  }
  return below + above + gwLinks();
}

LinksSvg::Bundle LinksSvg::bundleBetween(int from_ild, int to_ild) const {
  const int gateways = spec_.gatewaysPerIld();
  const auto ildOf = [&](int node) {
    return placement_.isSwitch(node) ? -1 : (node - spec_.ipuCount()) / gateways;
  };
  Bundle bundle;
  for (const Link& link : topology_.links()) {
    if (link.kind != LinkKind::kGwLink || ildOf(link.from) != from_ild || ildOf(link.to) != to_ild) continue;
    ++bundle.links;
    bundle.removed += isRemoved(link) ? 1 : 0;
    bundle.bytes_per_s = link.bytes_per_s;
  }
  return bundle;
}

std::string LinksSvg::labelOf(const Bundle& bundle) const {
  const int left = bundle.links - bundle.removed;
  const std::string label = std::to_string(left) + " × " + gigabytes(bundle.bytes_per_s) + " GB/s";
  return bundle.removed > 0 ? label + ", " + std::to_string(bundle.removed) + " removed" : label;
}

std::string LinksSvg::joined(Point from, Point to, Tenths depth, const Bundle& bundle) const {
  const std::string style = bundle.removed > 0 ? "bundle removed" : "bundle gateway-link";
  return curve(from, {from.x, from.y + depth}, {to.x, to.y - (to.y > from.y ? depth : -depth)}, to, style,
               svg::attribute("data-links", std::to_string(bundle.links)) + " stroke-width=\"5\"");
}

// Each gateway to the trunk of its domain, and the trunk down to its foot.
std::string LinksSvg::trunks(Tenths foot) const {
  std::string text;
  for (const int ild : placement_.ilds()) {
    const Tenths x = placement_.trunkOf(ild);
    Tenths highest = foot;
    for (int slot = 0; slot < spec_.gatewaysPerIld(); ++slot) {
      const int gateway = spec_.ipuCount() + ild * spec_.gatewaysPerIld() + slot;
      const Point at = placement_.middleOf(gateway);
      highest = std::min(highest, at.y);
      const bool has_removed = std::ranges::any_of(topology_.linksFrom(gateway), [&](int id) {
        const Link& link = topology_.links()[static_cast<std::size_t>(id)];
        return link.kind == LinkKind::kGwLink && isRemoved(link);
      });
      text += svg::line({at.x + kGatewayWidth / 2, at.y}, {x, at.y},
                        has_removed ? "stub removed" : "stub gateway-link", " stroke-width=\"1.3\"");
    }
    text += svg::line({x, highest}, {x, foot}, "stub gateway-link", " stroke-width=\"5\"");
  }
  return text;
}

// Between domains, as a bow below them.
std::string LinksSvg::bow(Tenths from, Tenths to, Tenths foot, const Bundle& bundle) const {
  const Tenths depth = from > to ? 1500 : 620;
  const Point label{(from + to) / 2, foot + depth * 3 / 4 - 100};
  return joined({from, foot}, {to, foot}, depth, bundle) + svg::words(label, "small mid", labelOf(bundle));
}

std::string LinksSvg::switched(Tenths foot) const {
  const std::vector<int>& ilds = placement_.ilds();
  const Point box{(placement_.trunkOf(ilds.front()) + placement_.trunkOf(ilds.back())) / 2, foot + 900};
  std::string text;
  for (const int ild : ilds) {
    const Tenths trunk = placement_.trunkOf(ild);
    const Tenths arrival = std::clamp(trunk, box.x - 1000, box.x + 1000);
    const Bundle links = bundleBetween(ild, -1);
    text += joined({trunk, foot}, {arrival, box.y}, 500, links) +
            svg::words({trunk - 80, foot - 30}, "small end", labelOf(links));
  }
  const int switches = spec_.gatewaysPerIld();
  return text + svg::rectangle({box.x - 1100, box.y}, 2200, 280, "switch", " rx=\"4\"") +
         svg::words({box.x, box.y + 180}, "mid",
                    switches == 1 ? "a switch" : std::to_string(switches) + " switches, one for each slot");
}

std::string LinksSvg::ring(Tenths foot) const {
  const std::vector<int>& ilds = placement_.ilds();
  std::string text;
  for (std::size_t i = 0; i + 1 < ilds.size(); ++i) {
    const auto& [ild, next] = std::pair(ilds[i], ilds[i + 1]);
    const Tenths from = placement_.trunkOf(ild), to = placement_.trunkOf(next), gap = placement_.ellipsis();
    if (next == ild + 1) {
      text += bow(from, to, foot, bundleBetween(ild, next));
      continue;
    }
    text += joined({from, foot}, {gap, foot}, 620, bundleBetween(ild, ild + 1)) +
            bow(gap, to, foot, bundleBetween(next - 1, next)) +
            svg::words({gap, foot - 60}, "title mid", "…");
  }
  if (ilds.size() == 2) return text;
  return text + bow(placement_.trunkOf(ilds.back()), placement_.trunkOf(ilds.front()), foot,
                    bundleBetween(ilds.back(), ilds.front()));
}

std::string LinksSvg::gwLinks() const {
  if (spec_.wiring || placement_.ilds().size() < 2) return "";
  const Tenths foot = placement_.bottom() + 200;
  const bool has_switches = spec_.shape.gateways == GatewayTopology::kSwitched;
  return trunks(foot) + (has_switches ? switched(foot) : ring(foot));
}

std::string LinksSvg::legend(Point& at) const {
  std::string text;
  const auto add = [&](const std::string& style, const std::string& more, const std::string& meaning) {
    text += svg::line({at.x, at.y - 40}, {at.x + 340, at.y - 40}, style, more) +
            svg::words({at.x + 460, at.y}, "small", meaning);
    at.y += kLegendLine;
  };
  for (const KindWords& kind : kKinds) {
    const auto rates = rates_.find(kind.kind);
    if (rates == rates_.end()) continue;
    const auto& [least, most] = rates->second;
    const std::string_view meaning =
        spec_.wiring && kind.kind == LinkKind::kRail ? "IPU-Links" : kind.meaning;
    add(std::string(kind.style), strokeWidth(most),
        std::string(meaning) + ": " + (least == most ? "" : gigabytes(least) + " to ") + gigabytes(most) +
            " GB/s each way");
  }
  if (!removed_.empty()) add("removed", " stroke-width=\"3\"", "removed");
  return text;
}

}  // namespace pop::pod::draw
