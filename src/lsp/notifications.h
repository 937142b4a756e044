// The notifications about texts: one function each. Each gives the documents that it has closed,
// whose findings are to be taken back.
#pragma once

#include <string>
#include <vector>

#include "lsp/state.h"

namespace sardonyx::lsp {

using Closed = std::vector<std::string>;  // URIs

// textDocument/...
Closed opened(State& state, const Json& parameters);
Closed changed(State& state, const Json& parameters);
Closed closed(State& state, const Json& parameters);
// notebookDocument/...
Closed notebook_opened(State& state, const Json& parameters);
Closed notebook_changed(State& state, const Json& parameters);
Closed notebook_closed(State& state, const Json& parameters);
// didSave of both, workspace/didChangeWatchedFiles: what files import may be another text.
Closed files_changed(State& state, const Json& parameters);
// workspace/didChangeWorkspaceFolders
Closed folders_changed(State& state, const Json& parameters);

}  // namespace sardonyx::lsp
