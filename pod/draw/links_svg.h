// SPDX-License-Identifier: Apache-2.0
// The links of a drawing, and its legend's lines.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "pod/draw/placement.h"

namespace pop::pod::draw {

class LinksSvg {
 public:
  /// `topology` has the links that `spec` removes as well. Keeps references to all three.
  LinksSvg(const PodSpec& spec, const Topology& topology, const Placement& placement);

  /// A line for each link pair, GW-Links of a domain as one bundle.
  std::string text() const;
  /// A line for each kind, at most 60 pixels down from `at`; moves it below them.
  std::string legend(Point& at) const;

 private:
  struct Rates {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };
  struct Bundle {
    int links = 0;
    int removed = 0;
    std::uint64_t bytes_per_s = 0;  ///< of each
  };

  bool isRemoved(const Link& link) const { return removed_.contains({link.from, link.to}); }
  std::string look(const Link& link) const;
  std::string one(const Link& link, int index, int parallel) const;
  std::string hostLink(const Link& link) const;
  std::string onBus(const Link& link) const;
  std::string gwLinks() const;
  std::string trunks(Tenths foot) const;
  std::string ring(Tenths foot) const;
  std::string switched(Tenths foot) const;
  std::string bow(Tenths from, Tenths to, Tenths foot, const Bundle& bundle) const;
  std::string labelOf(const Bundle& bundle) const;
  std::string joined(Point from, Point to, Tenths depth, const Bundle& bundle) const;
  Bundle bundleBetween(int from_ild, int to_ild) const;
  std::string strokeWidth(std::uint64_t bytes_per_s) const;

  const PodSpec& spec_;
  const Topology& topology_;
  const Placement& placement_;
  std::set<std::pair<int, int>> removed_;
  std::map<LinkKind, Rates> rates_;
  std::uint64_t most_ = 1;
};

}  // namespace pop::pod::draw
