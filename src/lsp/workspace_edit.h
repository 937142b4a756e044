// Changes of scripts as LSP's WorkspaceEdit has them: by the documents that they are in.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lsp/state.h"

namespace sardonyx::lsp {

using Changes = std::map<std::string, Json>;  // lists of TextEdits, by URI

void add_change(const State& state, const Document& document, ide::Range range,
                std::string_view text, Changes& changes);

Json edit_of(Changes changes);

}  // namespace sardonyx::lsp
