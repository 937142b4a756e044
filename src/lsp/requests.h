// The requests about documents: one function each, in a file of its own. `document` is the one that
// the parameters name, analysed.
#pragma once

#include "lsp/state.h"

namespace sardonyx::lsp {

Json code_actions(const State& state, const Document& document, const Json& parameters);
Json completion(const State& state, const Document& document, const Json& parameters);
Json definition_answer(const State& state, const Document& document, const Json& parameters);
Json diagnostics_report(const State& state, const Document& document, const Json& parameters);
Json document_symbols(const State& state, const Document& document, const Json& parameters);
Json highlights(const State& state, const Document& document, const Json& parameters);
Json hover_answer(const State& state, const Document& document, const Json& parameters);
Json inlay_hints(const State& state, const Document& document, const Json& parameters);
Json prepared_rename(const State& state, const Document& document, const Json& parameters);
Json references(const State& state, const Document& document, const Json& parameters);
Json rename(const State& state, const Document& document, const Json& parameters);
Json signature_answer(const State& state, const Document& document, const Json& parameters);

// Of an item that `completion` has given: with its documentation.
Json resolved_item(const Json& item);

// The findings of a document as LSP has them.
Json diagnostics_of(const State& state, const Document& document);

}  // namespace sardonyx::lsp
