// Changes of a script as LSP's WorkspaceEdit has them: by the documents that it is in.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "lsp/state.h"

namespace sardonyx::lsp {

Json workspace_edit(const State& state, const Document& document,
                    std::span<const std::pair<ide::Range, std::string_view>> edits);

}  // namespace sardonyx::lsp
