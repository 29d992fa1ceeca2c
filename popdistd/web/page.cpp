// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/page.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

// The files of popdistd/web/page, which web/ makes, each as it is and as gzip has it.
#define POP_PAGE_FILE(name, file)                                                                         \
  asm(".section .rodata\n" #name "_begin:\n.incbin \"" POP_PAGE_DIR "/" file "\"\n" #name "_end:\n" #name \
      "_gzip_begin:\n.incbin \"" POP_PAGE_GZIP_DIR "/" file ".gz\"\n" #name "_gzip_end:\n.previous\n");   \
  extern "C" const char name##_begin[], name##_end[], name##_gzip_begin[], name##_gzip_end[]

POP_PAGE_FILE(pop_page_html, "index.html");
POP_PAGE_FILE(pop_page_js, "page.js");
POP_PAGE_FILE(pop_page_css, "page.css");
POP_PAGE_FILE(pop_page_icon, "icon.svg");

namespace pop::popdistd {
namespace {

// Nothing is loaded from elsewhere, and nothing that is written into the page runs.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct PageFile {
  std::string_view path;
  const char* content_type;
  std::string_view plain;
  std::string_view gzip;
};

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

const std::array<PageFile, 4>& files() {
  static const std::array<PageFile, 4> all = {{
      {"/", "text/html; charset=utf-8", between(pop_page_html_begin, pop_page_html_end),
       between(pop_page_html_gzip_begin, pop_page_html_gzip_end)},
      {"/assets/page.js", "text/javascript; charset=utf-8", between(pop_page_js_begin, pop_page_js_end),
       between(pop_page_js_gzip_begin, pop_page_js_gzip_end)},
      {"/assets/page.css", "text/css; charset=utf-8", between(pop_page_css_begin, pop_page_css_end),
       between(pop_page_css_gzip_begin, pop_page_css_gzip_end)},
      {"/assets/icon.svg", "image/svg+xml", between(pop_page_icon_begin, pop_page_icon_end),
       between(pop_page_icon_gzip_begin, pop_page_icon_gzip_end)},
  }};
  return all;
}

// FNV-1a: the same bytes have the same tag.
std::string tagOf(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "\"%016llx\"", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace

std::optional<HttpAnswer> pageAnswer(const HttpRequest& request, const std::string& path) {
  for (const PageFile& file : files()) {
    if (file.path != path) continue;
    const std::string tag = tagOf(file.plain);
    HttpAnswer answer{.content_type = file.content_type};
    answer.headers = {{"Cache-Control", "no-cache"},
                      {"ETag", tag},
                      {"Vary", "Accept-Encoding"},
                      {"Content-Security-Policy", kPolicy}};
    if (request.if_none_match.find(tag) != std::string::npos) {
      answer.status = 304;
      return answer;
    }
    answer.body = request.takes_gzip ? file.gzip : file.plain;
    if (request.takes_gzip) answer.headers.emplace_back("Content-Encoding", "gzip");
    return answer;
  }
  return std::nullopt;
}

}  // namespace pop::popdistd
