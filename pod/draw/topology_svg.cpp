// SPDX-License-Identifier: Apache-2.0
#include "pod/draw/topology_svg.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "pod/draw/links_svg.h"
#include "pod/system/numbering.h"

namespace pop::pod {
namespace {

namespace svg = svg_text;
using svg::Point;
using svg::Tenths;

constexpr int kColours = 12;
constexpr Tenths kNarrowest = 4600, kBundles = 1500;

// The colours of popdistd's page.
constexpr const char* kStyle =
    "<style>text{font-family:Helvetica,Arial,sans-serif;font-size:12px;fill:#18202c}"
    ".title{font-size:15px;font-weight:bold}.small{font-size:11px;fill:#566172}.mid{text-anchor:middle}"
    ".end{text-anchor:end}.on{font-size:11px;fill:#fff;text-anchor:middle}.on.tiny{font-size:8px}"
    ".halo{paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".back{fill:#fff}.frame{fill:#f3f4f7;stroke:#c6ccd6}.link,.bundle{fill:none}"
    ".rail{stroke:#566172}.rung{stroke:#2558a3}.cross{stroke:#7fa6dd}.host{stroke:#b9c1cd}"
    ".gateway-link{stroke:#1f9d8a}.removed{stroke:#cf4453;stroke-dasharray:5 4}"
    ".gateway,.switch{fill:#e6e9ef;stroke:#1f9d8a}.gateway-name.on{fill:#18202c}.gateway-name{font-size:9px}"
    ".chip{fill:#4450c4}.free{fill:#9aa2ae}.slow{stroke:#e08a00;stroke-width:3px;stroke-dasharray:4 2}"
    ".factor{font-size:10px;fill:#855100;text-anchor:end;font-weight:bold}"
    ".r0{fill:#5b6ad0}.r1{fill:#1f9d8a}.r2{fill:#c9822b}.r3{fill:#b6549f}.r4{fill:#3f8fd2}.r5{fill:#7d9a2e}"
    ".r6{fill:#d0605e}.r7{fill:#8a63d2}.r8{fill:#2f9e5b}.r9{fill:#a77a4e}.r10{fill:#4d7f99}"
    ".r11{fill:#c14f86}"
    "@media(prefers-color-scheme:dark){text{fill:#e3e8ef}.small{fill:#98a4b4}.on{fill:#fff}"
    ".halo{stroke:#161b22}.back{fill:#161b22}.frame{fill:#1b212a;stroke:#3c4655}.rail{stroke:#98a4b4}"
    ".rung{stroke:#82b4f7}.cross{stroke:#3f679c}.host{stroke:#546173}.gateway,.switch{fill:#272e39}"
    ".gateway-name.on{fill:#e3e8ef}.free{fill:#545e6d}.factor{fill:#e5b04f}}</style>\n";

class Drawing {
 public:
  Drawing(const PodSpec& spec, const ReplicaLayout* layout)
      : spec_(spec), layout_(layout), topology_(whole(spec)), placement_(topology_) {}

  std::string text() const {
    const draw::LinksSvg links(spec_, topology_, placement_);
    const bool has_bundles = spec_.ilds() > 1;
    Point at{240, placement_.bottom() + 500 + (has_bundles ? kBundles : 0)};
    std::string body = heading() + frames() + links.text() + nodes() + ellipsis() + links.legend(at);
    body += marks(at);
    const Tenths width = std::max(placement_.width(), kNarrowest);
    const std::string size = svg::px(width) + " " + svg::px(at.y);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" +
           svg::attribute("width", svg::px(width)) + svg::attribute("height", svg::px(at.y)) +
           svg::attribute("viewBox", "0 0 " + size) + ">\n<title>" + svg::escaped(name()) +
           "</title>\n<desc>" + svg::escaped(description()) + "</desc>\n" + kStyle +
           svg::rectangle({0, 0}, width, at.y, "back") + body + "</svg>\n";
  }

 private:
  // Removed links are drawn too.
  static PodSpec whole(PodSpec spec) {
    spec.removed_links.clear();
    return spec;
  }

  std::string name() const { return spec_.name.empty() ? "System of IPUs" : spec_.name; }

  std::string description() const {
    std::string text = counted(spec_.ipuCount(), "IPU");
    if (!spec_.wiring) text += " in " + counted(spec_.ilds(), "IPU-Link domain");
    if (layout_ != nullptr)
      text +=
          ", " + counted(layout_->replicas, "replica") + " of " + counted(layout_->ipus_per_replica, "IPU");
    return text;
  }

  bool isShort() const { return static_cast<int>(placement_.ilds().size()) < spec_.ilds(); }

  std::string heading() const {
    std::string text =
        svg::words({240, 320}, "title", name()) + svg::words({240, 540}, "small", description());
    if (isShort())
      text += svg::words({240, 740}, "small",
                         "Not drawn: domains 3 to " + std::to_string(spec_.ilds() - 2) + ", which are alike");
    return text;
  }

  std::string frames() const {
    std::string text;
    if (spec_.wiring) return text;
    for (const int ild : placement_.ilds()) {
      text += svg::words({placement_.centreOf(ild), placement_.top() - 200}, "mid",
                         "IPU-Link domain " + std::to_string(ild));
      for (int i = 0; i < spec_.shape.machines_per_ild; ++i) {
        const int machine = ild * spec_.shape.machines_per_ild + i;
        const draw::Frame frame = placement_.frameOf(machine);
        text += svg::rectangle(frame.at, frame.width, frame.height, "frame", " rx=\"6\"");
        text += svg::words({frame.at.x - 60, frame.at.y + frame.height / 2 + 40}, "small end halo",
                           "M" + std::to_string(machine));
      }
    }
    return text;
  }

  std::string nodes() const {
    std::string text;
    for (int node = 0; node < topology_.nodes(); ++node) {
      if (!placement_.isDrawn(node)) continue;
      text += node < spec_.ipuCount() ? ipu(node) : gateway(node);
    }
    return text;
  }

  int replicaOf(int ipu) const {
    const bool has_one = layout_ != nullptr && ipu < layout_->ipuCount();
    return has_one ? ipu / layout_->ipus_per_replica : -1;
  }

  double speedOf(int ipu) const {
    const auto slow = std::ranges::find(spec_.speed_of_ipu, ipu, &std::pair<int, double>::first);
    return slow == spec_.speed_of_ipu.end() ? 1 : slow->second;
  }

  // More than four letters are wider than a square.
  static std::string sizeOf(const std::string& text) { return text.size() > 4 ? "on tiny" : "on"; }

  std::string ipu(int number) const {
    const Point at = placement_.middleOf(number);
    const int replica = replicaOf(number);
    const double speed = speedOf(number);
    std::string style = layout_ == nullptr ? "chip" : "free";
    std::string title = "IPU " + std::to_string(number);
    if (replica >= 0) {
      style = "r" + std::to_string(replica % kColours);
      title += ", replica " + std::to_string(replica);
    }
    if (speed != 1) {
      style += " slow";
      title += ", speed " + numberText(speed);
    }
    std::string text = "<g><title>" + title + "</title>";
    text += svg::rectangle({at.x - draw::kSquare / 2, at.y - draw::kSquare / 2}, draw::kSquare, draw::kSquare,
                           "ipu " + style, " rx=\"3\"");
    text += svg::words({at.x, at.y + (replica >= 0 ? 10 : 40)}, sizeOf(std::to_string(number)),
                       std::to_string(number));
    if (replica >= 0) text += svg::words({at.x, at.y + 110}, "on tiny", "r" + std::to_string(replica));
    if (speed != 1)
      text += svg::words({at.x - 40, at.y - draw::kSquare / 2 - 40}, "factor halo", numberText(speed) + "×");
    return text + "</g>\n";
  }

  std::string gateway(int node) const {
    const Point at = placement_.middleOf(node);
    const int gateways = spec_.ilds() * spec_.gatewaysPerIld();
    const int number = node - spec_.ipuCount() - (placement_.isSwitch(node) ? gateways : 0);
    const std::string kind = placement_.isSwitch(node) ? "switch" : "gateway";
    const std::string short_name = kind.substr(0, 1) + std::to_string(number);
    return "<g><title>" + kind + " " + std::to_string(number) + "</title>" +
           svg::rectangle({at.x - draw::kGatewayWidth / 2, at.y - draw::kGatewayHeight / 2},
                          draw::kGatewayWidth, draw::kGatewayHeight, kind, " rx=\"2\"") +
           svg::words({at.x, at.y + 30}, sizeOf(short_name) + " gateway-name", short_name) + "</g>\n";
  }

  std::string ellipsis() const {
    if (!isShort()) return "";
    return svg::words({placement_.ellipsis(), (placement_.top() + placement_.bottom()) / 2}, "title mid",
                      "…");
  }

  std::string marks(Point& at) const {
    std::string text;
    const auto add = [&](const std::string& style, const std::string& meaning) {
      text += svg::rectangle({at.x + 100, at.y - 120}, 140, 140, style, " rx=\"2\"") +
              svg::words({at.x + 460, at.y}, "small", meaning);
      at.y += 220;
    };
    if (layout_ != nullptr) add("r0", "an IPU, in the colour of its replica");
    if (layout_ != nullptr && layout_->ipuCount() < spec_.ipuCount()) add("free", "an IPU without a replica");
    if (layout_ == nullptr) add("chip", "an IPU");
    if (!spec_.speed_of_ipu.empty()) add("back slow", "an IPU that is slow");
    if (!spec_.wiring) add("frame", "M: an IPU-Machine of four IPUs");
    if (spec_.gatewaysPerIld() > 0) add("gateway", "g: a gateway");
    if (spec_.wiring && spec_.wiring->switches > 0) add("switch", "s: a switch");
    return text;
  }

  const PodSpec& spec_;
  const ReplicaLayout* layout_;
  Topology topology_;
  draw::Placement placement_;
};

}  // namespace

std::string topologySvg(const PodSpec& spec) {
  return Drawing(spec, nullptr).text();
}

std::string topologySvg(const ReplicaLayout& layout) {
  return Drawing(layout.spec, &layout).text();
}

}  // namespace pop::pod
