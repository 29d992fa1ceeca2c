// SPDX-License-Identifier: Apache-2.0
// The pieces of an SVG: elements as text. Lengths are in tenths of a pixel, so that a drawing has the same
// bytes on every machine.
#pragma once

#include <cstdint>
#include <string>

namespace pop::svg_text {

using Tenths = std::int64_t;

struct Point {
  Tenths x = 0;
  Tenths y = 0;
};

/// "12.5"
inline std::string px(Tenths length) {
  const std::string sign = length < 0 ? "-" : "";
  const Tenths positive = length < 0 ? -length : length;
  return sign + std::to_string(positive / 10) +
         (positive % 10 == 0 ? "" : "." + std::to_string(positive % 10));
}

/// Text that may stand between tags and in attributes.
inline std::string escaped(const std::string& text) {
  std::string result;
  for (const char character : text) {
    if (character == '&')
      result += "&amp;";
    else if (character == '<')
      result += "&lt;";
    else if (character == '>')
      result += "&gt;";
    else if (character == '"')
      result += "&quot;";
    else
      result += character;
  }
  return result;
}

inline std::string attribute(const std::string& name, const std::string& value) {
  return " " + name + "=\"" + escaped(value) + "\"";
}

inline std::string rectangle(Point at, Tenths width, Tenths height, const std::string& style_class,
                             const std::string& more = "") {
  return "<rect" + attribute("x", px(at.x)) + attribute("y", px(at.y)) + attribute("width", px(width)) +
         attribute("height", px(height)) + attribute("class", style_class) + more + "/>\n";
}

inline std::string line(Point from, Point to, const std::string& style_class, const std::string& more = "") {
  return "<line" + attribute("x1", px(from.x)) + attribute("y1", px(from.y)) + attribute("x2", px(to.x)) +
         attribute("y2", px(to.y)) + attribute("class", style_class) + more + "/>\n";
}

inline std::string words(Point at, const std::string& style_class, const std::string& content) {
  return "<text" + attribute("x", px(at.x)) + attribute("y", px(at.y)) + attribute("class", style_class) +
         ">" + escaped(content) + "</text>\n";
}

/// A brace that is open below, from one x to another; its point is up.
inline std::string brace(Tenths from, Tenths to, Tenths y) {
  const Tenths curve = to - from < 240 ? (to - from) / 4 : 60;
  const std::string c = px(curve);
  return "<path class=\"brace\" d=\"M" + px(from) + " " + px(y) + "q0 -" + c + " " + c + " -" + c + "H" +
         px((from + to) / 2 - curve) + "q" + c + " 0 " + c + " -" + c + "q0 " + c + " " + c + " " + c + "H" +
         px(to - curve) + "q" + c + " 0 " + c + " " + c + "\"/>\n";
}

}  // namespace pop::svg_text
