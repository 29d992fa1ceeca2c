// SPDX-License-Identifier: Apache-2.0
#include "pod/draw/placement.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>

#include "pod/system/numbering.h"

namespace pop::pod::draw {
namespace {

constexpr int kMostIlds = 8, kFirstIlds = 3, kMostInTheWay = 16;
constexpr Tenths kRowPitch = 480, kMachineGap = 300, kColumns = 800, kSkew = 420, kToGateway = 420;
double turnOf(int index, int count) {
  return 2 * std::numbers::pi * index / std::max(count, 1);
}

constexpr Tenths kAtLoops = 1000, kAtLabel = 500, kAtTrunk = 850, kAtTrunkAndLoops = 1460;

}  // namespace

Placement::Placement(const Topology& topology) : topology_(topology), spec_(topology.spec()) {
  spec_.wiring ? placeCircle() : placeIlds();
}

void Placement::placeIlds() {
  const int count = spec_.ilds();
  for (int ild = 0; ild < count; ++ild) {
    if (count <= kMostIlds || ild < kFirstIlds || ild == count - 1) ilds_.push_back(ild);
  }
  ild_width_ = (hasLoops() ? kAtLoops : kAtLabel) + frameWidth() + (hasLoops() ? kAtTrunkAndLoops : kAtTrunk);
  const int rows = spec_.ildIpus() / 2;
  bottom_ = top_ + 2 * kFramePad + kSquare + (rows - 1) * kRowPitch + (rows / 2 - 1) * kMachineGap;
  const auto drawn = static_cast<Tenths>(ilds_.size());
  width_ = 2 * left_ + drawn * ild_width_ + (drawn < count ? kEllipsis : 0);
}

void Placement::placeCircle() {
  ilds_ = {0};
  radius_ = std::max<Tenths>(1100, spec_.ipuCount() * (kSquare + 200) * 100 / 628);
  inner_turn_ = innerTurn();
  width_ = 2 * (radius_ + kSquare + left_);
  top_ = 900;
  bottom_ = top_ + 2 * (radius_ + kSquare);
}

bool Placement::isTwist() const {
  return spec_.shape.topology == IldTopology::kBarleyTwist;
}

bool Placement::hasLoops() const {
  return spec_.shape.topology != IldTopology::kMesh && spec_.shape.machines_per_ild > 1;
}

std::size_t Placement::slotOf(int ild) const {
  return static_cast<std::size_t>(std::ranges::find(ilds_, ild) - ilds_.begin());
}

bool Placement::isGateway(int node) const {
  return node >= spec_.ipuCount() && node < spec_.ipuCount() + spec_.ilds() * spec_.gatewaysPerIld();
}

bool Placement::isSwitch(int node) const {
  return node >= spec_.ipuCount() && !isGateway(node);
}

bool Placement::isDrawn(int node) const {
  if (spec_.wiring) return true;
  if (isSwitch(node)) return false;
  const int ild =
      isGateway(node) ? (node - spec_.ipuCount()) / spec_.gatewaysPerIld() : node / spec_.ildIpus();
  return slotOf(ild) < ilds_.size();
}

Tenths Placement::frameWidth() const {
  return kColumns + kSquare + 2 * kFramePad + (isTwist() ? 2 * kSkew : 0);
}

Tenths Placement::frameLeft(int ild) const {
  const std::size_t slot = slotOf(ild);
  const bool after_ellipsis = ilds_[slot] != static_cast<int>(slot);
  return left_ + static_cast<Tenths>(slot) * ild_width_ + (after_ellipsis ? kEllipsis : 0) +
         (hasLoops() ? kAtLoops : kAtLabel);
}

Tenths Placement::trunkOf(int ild) const {
  return frameLeft(ild) + frameWidth() + kToGateway + kGatewayWidth / 2 + 160;
}

Tenths Placement::centreOf(int ild) const {
  return frameLeft(ild) + frameWidth() / 2;
}

Tenths Placement::rowMiddle(int row) const {
  return bottom_ - kFramePad - kSquare / 2 - row * kRowPitch - row / 2 * kMachineGap;
}

Frame Placement::frameOf(int machine) const {
  const int ild = machine / spec_.shape.machines_per_ild;
  const int row = machine % spec_.shape.machines_per_ild * 2;
  return {.at = {frameLeft(ild), rowMiddle(row + 1) - kSquare / 2 - kFramePad},
          .width = frameWidth(),
          .height = kRowPitch + kSquare + 2 * kFramePad};
}

// Gateways stand where they are near to their IPUs; without such a place, between the ways to the middle.
double Placement::innerTurn() const {
  std::complex<double> sum;
  for (const Link& link : topology_.links()) {
    if (link.kind != LinkKind::kHostLink || !isGateway(link.from)) continue;
    const int gateway = link.from - spec_.ipuCount();
    sum += std::polar(1.0, turnOf(link.to, spec_.ipuCount()) - turnOf(gateway, spec_.wiring->gateways));
  }
  return std::abs(sum) > 0.01 ? std::arg(sum) : turnOf(1, 2 * spec_.ipuCount());
}

Point Placement::onCircle(double angle, Tenths radius) const {
  const auto size = static_cast<double>(radius);
  return {width_ / 2 + std::llround(size * std::sin(angle)),
          top_ + kSquare + radius_ - std::llround(size * std::cos(angle))};
}

Point Placement::middleOf(int node) const {
  const int gateway = node - spec_.ipuCount();
  if (spec_.wiring) {
    if (gateway < 0) return onCircle(turnOf(node, spec_.ipuCount()), radius_);
    const auto& [ipus, gateways, switches, wires] = *spec_.wiring;
    if (isGateway(node)) return onCircle(inner_turn_ + turnOf(gateway, gateways), radius_ * 6 / 10);
    // Links between opposite IPUs meet in the middle: no switch stands there.
    return onCircle(inner_turn_ + turnOf(1, 4) + turnOf(gateway - gateways, switches), radius_ / 4);
  }
  if (gateway >= 0) {
    const int ild = gateway / spec_.gatewaysPerIld();
    const int first_row = gateway % spec_.gatewaysPerIld() * spec_.machines_per_gateway * 2;
    const int last_row = std::min(first_row + 2 * spec_.machines_per_gateway, spec_.ildIpus() / 2) - 1;
    return {frameLeft(ild) + frameWidth() + kToGateway, (rowMiddle(first_row) + rowMiddle(last_row)) / 2};
  }
  const IpuPosition at = positionOf(spec_, node);
  // The upper row of a twist's square stands further out, so that the rails of the lower row go by it.
  const Tenths out = isTwist() && at.row % 2 == 0 ? kSkew : 0;
  const Tenths in = kFramePad + kSquare / 2 + out;
  const Tenths left = frameLeft(at.ild);
  return {at.column == 0 ? left + in : left + frameWidth() - in, rowMiddle(at.row)};
}

bool Placement::isLeft(int ipu) const {
  return positionOf(spec_, ipu).column == 0;
}

bool Placement::isClear(const Link& link, Tenths bow) const {
  constexpr int kSamples = 24;
  constexpr double kRoom = 180;
  const Point from = middleOf(link.from), to = middleOf(link.to);
  const auto dx = static_cast<double>(to.x - from.x), dy = static_cast<double>(to.y - from.y);
  const double length = std::max(1.0, std::hypot(dx, dy));
  for (int i = 1; i < kSamples; ++i) {
    const double t = static_cast<double>(i) / kSamples;
    const double out = 3 * t * (1 - t) * static_cast<double>(bow) / length;
    const double x = static_cast<double>(from.x) + t * dx - out * dy;
    const double y = static_cast<double>(from.y) + t * dy + out * dx;
    for (int node = spec_.ipuCount(); node < topology_.nodes(); ++node) {
      const Point at = middleOf(node);
      const bool is_end = node == link.from || node == link.to;
      if (!is_end && std::hypot(x - static_cast<double>(at.x), y - static_cast<double>(at.y)) < kRoom)
        return false;
    }
  }
  return true;
}

Tenths Placement::bowOf(const Link& link) const {
  if (!spec_.wiring || spec_.wiring->gateways + spec_.wiring->switches > kMostInTheWay) return 0;
  for (const Tenths bow : {0, 450, -450, 900, -900}) {
    if (isClear(link, bow)) return bow;
  }
  return 0;
}

bool Placement::isLoop(const Link& link) const {
  if (spec_.wiring || link.kind != LinkKind::kRail) return false;
  const int rows = std::abs(positionOf(spec_, link.from).row - positionOf(spec_, link.to).row);
  const int machines = std::abs(machineOf(link.from) - machineOf(link.to));
  return isTwist() ? machines > 1 : rows > 1;
}

Point Placement::loopTip(const Link& link) const {
  const IpuPosition at = positionOf(spec_, link.from);
  const Tenths left = frameLeft(at.ild);
  // A twist has two cables on each side: the one between the lower and the upper row is inside the other.
  const Tenths inset = isTwist() && at.row % 2 == 0 ? 260 : 0;
  const Tenths y = middleOf(link.to).y;
  if (at.column == 0) return {left - 900 + inset, y};
  return {left + frameWidth() + 1360 - inset, y};
}

}  // namespace pop::pod::draw
