// SPDX-License-Identifier: Apache-2.0
// Places of a system's nodes in its drawing. IPU-Link domains stand side by side, each of two columns; of a
// wiring of its own the IPUs are on a circle, its gateways and switches inside.
#pragma once

#include <vector>

#include "common/base/svg_text.h"
#include "pod/system/topology.h"

namespace pop::pod::draw {

using svg_text::Point;
using svg_text::Tenths;

inline constexpr Tenths kSquare = 300, kGatewayWidth = 300, kGatewayHeight = 160, kFramePad = 110;

struct Frame {
  Point at;  ///< top left
  Tenths width = 0;
  Tenths height = 0;
};

class Placement {
 public:
  /// Keeps a reference to the topology.
  explicit Placement(const Topology& topology);

  /// Domains in the drawing, from left to right: all, or of many the first ones and the last.
  const std::vector<int>& ilds() const { return ilds_; }
  bool isDrawn(int node) const;
  bool isGateway(int node) const;
  bool isSwitch(int node) const;
  Point middleOf(int node) const;
  Frame frameOf(int machine) const;  ///< machine counted over all domains
  bool isLeft(int ipu) const;        ///< of the two columns of its domain
  /// In a wiring of its own, how far a link goes out of its straight way, to the right, so that it is not
  /// below a gateway or a switch. 0 if it need not, or if there are so many of them that links could not be
  /// told apart.
  Tenths bowOf(const Link& link) const;
  /// True for the cables that close a torus or a barley twist.
  bool isLoop(const Link& link) const;
  Point loopTip(const Link& link) const;  ///< the height of its lower end, the side on which it goes by
  Tenths trunkOf(int ild) const;          ///< x of the bundle of its GW-Links
  Tenths centreOf(int ild) const;
  Tenths ellipsis() const { return left_ + 3 * ild_width_ + kEllipsis / 2; }

  Tenths width() const { return width_; }
  Tenths top() const { return top_; }
  Tenths bottom() const { return bottom_; }  ///< of the domains or the circle

 private:
  static constexpr Tenths kEllipsis = 700;

  void placeIlds();
  void placeCircle();
  bool isClear(const Link& link, Tenths bow) const;
  double innerTurn() const;
  Point onCircle(double angle, Tenths radius) const;
  bool isTwist() const;
  bool hasLoops() const;
  Tenths rowMiddle(int row) const;
  Tenths frameLeft(int ild) const;
  Tenths frameWidth() const;
  std::size_t slotOf(int ild) const;  ///< among those drawn; their number if it is not

  const Topology& topology_;
  const PodSpec& spec_;
  std::vector<int> ilds_;
  Tenths left_ = 240, top_ = 1320, bottom_ = 0, width_ = 0, ild_width_ = 0, radius_ = 0;
  double inner_turn_ = 0;  ///< of the gateways' circle, in radians
};

}  // namespace pop::pod::draw
