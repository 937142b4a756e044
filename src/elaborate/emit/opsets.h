// Which version of an operator set a unit uses.
#pragma once

#include <string>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Notes that the unit uses a version of a domain; a second version of one domain is reported.
void import_opset(Context& c, const OpsetObject& opset, syntax::Range range);

// The first opset of ai.onnx that the body of the current function names, as `op` in `op.Add`;
// version 0: none.
struct NamedOpset {
    Symbol name;
    int64_t version = 0;
};

NamedOpset named_opset(Context& c);

// The opset of Python's operators in the current function.
OpsetObject operator_opset(Context& c);

// The opset that one in the text is compiled to: that of the options or of the caller in place of
// what the text says.
OpsetObject compiled_opset(Context& c, const OpsetObject& written);

// What the unit and those around it say of the opset of a function that is called here.
std::string opsets_around(Context& c);

}  // namespace sardonyx::elaborate
