// Operators by their tokens. Both are in one order, which is checked here.
#pragma once

#include "syntax/token.h"
#include "syntax/tree.h"

namespace sardonyx::syntax {

// From + to //.
constexpr BinaryOp binary_op(TokenKind kind) {
    return static_cast<BinaryOp>(static_cast<int>(kind) - static_cast<int>(TokenKind::kPlus));
}
// From += to //=.
constexpr BinaryOp augmented_op(TokenKind kind) {
    return static_cast<BinaryOp>(static_cast<int>(kind) - static_cast<int>(TokenKind::kPlusEqual));
}
// From == to >=.
constexpr CompareOp compare_op(TokenKind kind) {
    return static_cast<CompareOp>(static_cast<int>(kind) -
                                  static_cast<int>(TokenKind::kEqualEqual));
}

#define SDX_SAME(token, op)                                     \
    static_assert(binary_op(TokenKind::token) == BinaryOp::op); \
    static_assert(augmented_op(TokenKind::token##Equal) == BinaryOp::op)
SDX_SAME(kPlus, kAdd);
SDX_SAME(kMinus, kSub);
SDX_SAME(kStar, kMul);
SDX_SAME(kAt, kMatMul);
SDX_SAME(kSlash, kDiv);
SDX_SAME(kPercent, kMod);
SDX_SAME(kDoubleStar, kPow);
SDX_SAME(kLeftShift, kLeftShift);
SDX_SAME(kRightShift, kRightShift);
SDX_SAME(kPipe, kBitOr);
SDX_SAME(kCaret, kBitXor);
SDX_SAME(kAmpersand, kBitAnd);
SDX_SAME(kDoubleSlash, kFloorDiv);
#undef SDX_SAME
static_assert(compare_op(TokenKind::kEqualEqual) == CompareOp::kEq);
static_assert(compare_op(TokenKind::kNotEqual) == CompareOp::kNotEq);
static_assert(compare_op(TokenKind::kLess) == CompareOp::kLt);
static_assert(compare_op(TokenKind::kLessEqual) == CompareOp::kLtE);
static_assert(compare_op(TokenKind::kGreater) == CompareOp::kGt);
static_assert(compare_op(TokenKind::kGreaterEqual) == CompareOp::kGtE);

}  // namespace sardonyx::syntax
