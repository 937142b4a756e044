// What a machine can mend: the edits of diagnostics that need more than one word replaced. Where
// an edit would not certainly be what the help says, none is added.
#pragma once

#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Writes `name` in place of `old`, if that is what stands there.
void offer_name(Context& c, diagnostics::Diagnostic& reported, syntax::Range range,
                std::string_view old, std::string_view name);

// Writes another text into the string literal at `range`, if it is a plain one.
void offer_string(Context& c, diagnostics::Diagnostic& reported, syntax::Range range,
                  std::string_view text);

// Operands of two element types: casts the one to the type of the other that loses nothing.
void offer_cast(Context& c, diagnostics::Diagnostic& reported, syntax::Range a, ElementType a_type,
                syntax::Range b, ElementType b_type);

// `op.Name` needs a newer opset: imports that, if all operators of the file that are called by
// way of `receiver` mean the same there.
void offer_opset(Context& c, diagnostics::Diagnostic& reported, Symbol receiver,
                 const OpsetObject& opset, int64_t wanted);

// `and` and `or` as `&` and `|`, `not` as `~`, with brackets around what binds less tightly.
void offer_operator(Context& c, diagnostics::Diagnostic& reported, const syntax::BoolOpExpr* expr);
void offer_operator(Context& c, diagnostics::Diagnostic& reported, const syntax::UnaryExpr* expr);

}  // namespace sardonyx::elaborate
