// Displays and f-strings.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object eval_items(Context& c, const syntax::SequenceExpr* expr);

Object eval_dict(Context& c, const syntax::DictExpr* expr);

Object eval_fstring(Context& c, const syntax::FStringExpr* expr);

}  // namespace sardonyx::elaborate
