// SPDX-License-Identifier: Apache-2.0
// A list that comes in pages, as a whole. Included by this folder only.
#pragma once

#include <utility>

#include "common/base/status.h"

namespace pop::popctl {

/// All pages in one, with the revision of the first: who watches from there misses nothing. `ask(request)`:
/// one page, as Result<Reply>; the first error is the answer.
template <typename Request, typename Ask>
auto allPages(Request request, Ask ask) -> decltype(ask(request)) {
  auto all = ask(request);
  if (!all.ok()) return all;
  const auto revision = all->revision();
  while (!all->next_page_token().empty()) {
    request.set_page_token(all->next_page_token());
    all->clear_next_page_token();
    auto page = ask(request);
    if (!page.ok()) return page;
    all->MergeFrom(*page);
  }
  all->set_revision(revision);
  return all;
}

}  // namespace pop::popctl
