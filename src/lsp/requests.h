// The requests about documents: one function each, in a file of its own. `document` is the one that
// the parameters name, analysed.
#pragma once

#include "lsp/state.h"

namespace sardonyx::lsp {

Json code_actions(const State& state, const Document& document, const Json& parameters);
Json code_lenses(const State& state, const Document& document, const Json& parameters);
Json completion(const State& state, const Document& document, const Json& parameters);
Json definition_answer(const State& state, const Document& document, const Json& parameters);
Json diagnostics_report(const State& state, const Document& document, const Json& parameters);
Json document_symbols(const State& state, const Document& document, const Json& parameters);
Json folding_ranges(const State& state, const Document& document, const Json& parameters);
Json highlights(const State& state, const Document& document, const Json& parameters);
Json hover_answer(const State& state, const Document& document, const Json& parameters);
Json inlay_hints(const State& state, const Document& document, const Json& parameters);
Json prepared_call_hierarchy(const State& state, const Document& document, const Json& parameters);
Json prepared_rename(const State& state, const Document& document, const Json& parameters);
Json semantic_tokens(const State& state, const Document& document, const Json& parameters);
Json semantic_tokens_of_range(const State& state, const Document& document, const Json& parameters);
Json signature_answer(const State& state, const Document& document, const Json& parameters);

// Those that may be about files that are not open, too; the errors are for the user.
Result<Json> graph(State& state, const Json& parameters);
Result<Json> incoming_calls(State& state, const Json& parameters);
Result<Json> outgoing_calls(State& state, const Json& parameters);
Result<Json> references(State& state, const Json& parameters);
Result<Json> rename(State& state, const Json& parameters);

// Of an item that `completion` has given: with its documentation.
Json resolved_item(const Json& item);

// What the numbers of semantic tokens mean.
Json semantic_tokens_legend();

// The findings of a document as LSP has them.
Json diagnostics_of(const State& state, const Document& document);

}  // namespace sardonyx::lsp
