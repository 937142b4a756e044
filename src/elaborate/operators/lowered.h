// Operators of the tree as those of lowering, which does not know the tree. Both are in one order.
#pragma once

#include "lowering/operators.h"
#include "syntax/tree.h"

namespace sardonyx::elaborate {

constexpr lowering::Binary lowered(syntax::BinaryOp op) {
    return static_cast<lowering::Binary>(op);
}
constexpr lowering::Unary lowered(syntax::UnaryOp op) {
    return static_cast<lowering::Unary>(op);
}
// Of those up to >=; identity and membership are no operators of ONNX.
constexpr lowering::Compare lowered(syntax::CompareOp op) {
    return static_cast<lowering::Compare>(op);
}

#define SDX_SAME(syntax_enum, lowering_enum, value) \
    static_assert(lowered(syntax::syntax_enum::value) == lowering::lowering_enum::value)
SDX_SAME(BinaryOp, Binary, kAdd);
SDX_SAME(BinaryOp, Binary, kSub);
SDX_SAME(BinaryOp, Binary, kMul);
SDX_SAME(BinaryOp, Binary, kMatMul);
SDX_SAME(BinaryOp, Binary, kDiv);
SDX_SAME(BinaryOp, Binary, kMod);
SDX_SAME(BinaryOp, Binary, kPow);
SDX_SAME(BinaryOp, Binary, kLeftShift);
SDX_SAME(BinaryOp, Binary, kRightShift);
SDX_SAME(BinaryOp, Binary, kBitOr);
SDX_SAME(BinaryOp, Binary, kBitXor);
SDX_SAME(BinaryOp, Binary, kBitAnd);
SDX_SAME(BinaryOp, Binary, kFloorDiv);
SDX_SAME(UnaryOp, Unary, kInvert);
SDX_SAME(UnaryOp, Unary, kNot);
SDX_SAME(UnaryOp, Unary, kPlus);
SDX_SAME(UnaryOp, Unary, kMinus);
SDX_SAME(CompareOp, Compare, kEq);
SDX_SAME(CompareOp, Compare, kNotEq);
SDX_SAME(CompareOp, Compare, kLt);
SDX_SAME(CompareOp, Compare, kLtE);
SDX_SAME(CompareOp, Compare, kGt);
SDX_SAME(CompareOp, Compare, kGtE);
#undef SDX_SAME

}  // namespace sardonyx::elaborate
