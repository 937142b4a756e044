// The tree of the Python subset: what the parser makes and elaborate walks.
//
// Nodes live in the Tree's arena, are immutable once parsed and are told apart by `kind`; `as<T>`
// is the checked downcast. The shapes follow CPython's `ast` (Python 3.12), with these differences:
//  - constants have one node per kind of literal, and adjacent string literals are joined;
//  - `class`, `with`, `try` and `match` are one node, an OpaqueStmt, with what its heads say;
//  - a place that could not be parsed is an ErrorExpr or ErrorStmt, and a diagnostic has been
//  reported.
// Positions are byte offsets into the source file.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/check.h"
#include "base/interner.h"
#include "diagnostics/source.h"
#include "syntax/token.h"

namespace sardonyx::syntax {

// --- Expressions ---------------------------------------------------------------------------------

enum class ExprKind : uint8_t {
    kError,
    kName,
    kInt,
    kFloat,
    kImaginary,
    kString,
    kBytes,
    kFString,
    kBool,
    kNone,
    kEllipsis,
    kTuple,
    kList,
    kSet,
    kDict,
    kComprehension,
    kUnary,
    kBinary,
    kBoolOp,
    kCompare,
    kCall,
    kAttribute,
    kSubscript,
    kSlice,
    kStarred,
    kLambda,
    kIfExp,
    kNamed,
    kAwait,
    kYield,
    kYieldFrom,
};

struct Expr {
    ExprKind kind;
    Range range;  // an expression in parentheses has the range without them, as in CPython
};

using Exprs = std::span<const Expr* const>;

struct ErrorExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kError;
};

struct NameExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kName;
    Symbol name;  // NFKC-normalisation of identifiers is not done: ASCII names are what scripts use
};

struct IntExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kInt;
    int64_t value;   // meaningless when `overflows`
    bool overflows;  // does not fit in int64; the digits stand in the source
};

struct FloatExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kFloat;
    double value;
};

struct ImaginaryExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kImaginary;
    double value;
};

// Decoded text as UTF-8. A lone surrogate escape is kept in its three-byte form (WTF-8).
struct StringExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kString;
    std::string_view value;
};

struct BytesExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kBytes;
    std::string_view value;
};

// One piece of an f-string: literal text when `expr` is null, else {expr!conversion:format}.
struct FStringPart {
    std::string_view text;
    const Expr* expr = nullptr;
    char conversion = 0;                         // 0, 's', 'r' or 'a'
    const struct FStringExpr* format = nullptr;  // null: none
};

// As in CPython, `{x=}` yields the text "x=" and then the value with conversion 'r' (unless given).
struct FStringExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kFString;
    std::span<const FStringPart> parts;
};

struct BoolExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kBool;
    bool value;
};

struct NoneExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kNone;
};

struct EllipsisExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kEllipsis;
};

// kTuple, kList or kSet.
struct SequenceExpr : Expr {
    Exprs items;
};

struct DictExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kDict;
    Exprs keys;  // null for `**mapping`
    Exprs values;
};

struct ComprehensionFor {
    const Expr* target;
    const Expr* iterable;
    Exprs conditions;
    bool is_async;
};

enum class ComprehensionKind : uint8_t { kList, kSet, kDict, kGenerator };

struct ComprehensionExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kComprehension;
    ComprehensionKind comprehension;
    const Expr* element;  // the key, for a dict
    const Expr* value;    // of a dict; else null
    std::span<const ComprehensionFor> clauses;
};

enum class UnaryOp : uint8_t { kInvert, kNot, kPlus, kMinus };

struct UnaryExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kUnary;
    UnaryOp op;
    const Expr* operand;
};

enum class BinaryOp : uint8_t {
    kAdd,
    kSub,
    kMul,
    kMatMul,
    kDiv,
    kMod,
    kPow,
    kLeftShift,
    kRightShift,
    kBitOr,
    kBitXor,
    kBitAnd,
    kFloorDiv,
};

struct BinaryExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kBinary;
    BinaryOp op;
    Range op_range;
    const Expr* left;
    const Expr* right;
};

// `a and b and c` is one node with three operands.
struct BoolOpExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kBoolOp;
    bool is_and;
    Range op_range;  // of the first `and` or `or`
    Exprs operands;
};

enum class CompareOp : uint8_t { kEq, kNotEq, kLt, kLtE, kGt, kGtE, kIs, kIsNot, kIn, kNotIn };

struct CompareExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kCompare;
    const Expr* left;
    std::span<const CompareOp> ops;
    Exprs rights;
};

struct Keyword {
    Symbol name;  // invalid for `**mapping`
    Range name_range;
    const Expr* value;
};

// Starred arguments stand among `args`. Keywords keep their order.
struct CallExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kCall;
    const Expr* callee;
    Exprs args;
    std::span<const Keyword> keywords;
};

// `op.` at the end of a line is an AttributeExpr with an invalid name and a diagnostic.
struct AttributeExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kAttribute;
    const Expr* value;
    Symbol name;
    Range name_range;
};

// `x[a, b]` has a kTuple as its index.
struct SubscriptExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kSubscript;
    const Expr* value;
    const Expr* index;
};

// Any part may be null.
struct SliceExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kSlice;
    const Expr* lower;
    const Expr* upper;
    const Expr* step;
};

// kStarred, kAwait, kYield (operand may be null) or kYieldFrom.
struct PrefixExpr : Expr {
    const Expr* operand;
};

struct Parameters;

struct LambdaExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kLambda;
    const Parameters* parameters;
    const Expr* body;
};

struct IfExpExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kIfExp;
    const Expr* condition;
    const Expr* body;
    const Expr* orelse;
};

// target := value
struct NamedExpr : Expr {
    static constexpr ExprKind kKind = ExprKind::kNamed;
    const NameExpr* target;
    const Expr* value;
};

// --- Statements ----------------------------------------------------------------------------------

enum class StmtKind : uint8_t {
    kError,
    kExpr,
    kAssign,
    kAugAssign,
    kAnnAssign,
    kReturn,
    kDelete,
    kPass,
    kBreak,
    kContinue,
    kRaise,
    kAssert,
    kGlobal,
    kNonlocal,
    kImport,
    kImportFrom,
    kIf,
    kFor,
    kWhile,
    kFunctionDef,
    kTypeAlias,
    kOpaque,
};

struct Stmt {
    StmtKind kind;
    Range range;
};

using Stmts = std::span<const Stmt* const>;

// kError, kPass, kBreak and kContinue have no fields of their own.

struct ExprStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kExpr;
    const Expr* value;
};

// `a = b = value` has two targets.
struct AssignStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kAssign;
    Exprs targets;
    const Expr* value;
};

struct AugAssignStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kAugAssign;
    const Expr* target;
    BinaryOp op;
    Range op_range;
    const Expr* value;
};

struct AnnAssignStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kAnnAssign;
    const Expr* target;
    const Expr* annotation;
    const Expr* value;  // may be null
    bool simple;        // the target is a name without parentheses
};

struct ReturnStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kReturn;
    const Expr* value;  // may be null
};

struct DeleteStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kDelete;
    Exprs targets;
};

struct RaiseStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kRaise;
    const Expr* exception;  // may be null
    const Expr* cause;      // may be null
};

struct AssertStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kAssert;
    const Expr* condition;
    const Expr* message;  // may be null
};

// kGlobal or kNonlocal.
struct NamesStmt : Stmt {
    std::span<const Symbol> names;
};

struct Alias {
    Symbol name;     // dotted, as written; `*` for a star import
    Symbol as_name;  // invalid: none
    Range range;
};

struct ImportStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kImport;
    std::span<const Alias> names;
};

struct ImportFromStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kImportFrom;
    Symbol module;   // dotted; invalid for `from . import x`
    uint32_t level;  // the number of leading dots
    std::span<const Alias> names;
};

// `elif` is an IfStmt alone in `orelse`.
struct IfStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kIf;
    const Expr* condition;
    Stmts body;
    Stmts orelse;
};

struct ForStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kFor;
    const Expr* target;
    const Expr* iterable;
    Stmts body;
    Stmts orelse;
    bool is_async;
};

struct WhileStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kWhile;
    const Expr* condition;
    Stmts body;
    Stmts orelse;
};

enum class ParameterKind : uint8_t {
    kPositionalOnly,
    kNormal,
    kVarArgs,
    kKeywordOnly,
    kKeywordArgs
};

struct Parameter {
    Symbol name;
    ParameterKind kind;
    Range range;                // of the name
    const Expr* annotation;     // may be null
    const Expr* default_value;  // may be null
};

struct Parameters {
    std::span<const Parameter> items;  // in the order of the source
};

struct FunctionDefStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kFunctionDef;
    Symbol name;
    Range name_range;
    Exprs decorators;
    const Parameters* parameters;
    const Expr* returns;  // may be null
    Stmts body;
    bool is_async;
};

// type X[T] = value
struct TypeAliasStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kTypeAlias;
    const Expr* name;
    const Expr* value;
};

enum class PatternKind : uint8_t {
    kValue,     // a literal or a dotted name
    kCapture,   // name, `_` (no name), or `pattern as name` (one item)
    kOr,        // a | b
    kSequence,  // [a, *rest]
    kStar,      // *rest, *_ (no name)
    kMapping,   // {key: pattern, **rest}
    kClass,     // Name(a, word=b)
};

// The pattern of a `case`.
struct Pattern {
    PatternKind kind;
    Range range;
    const Expr* value = nullptr;  // of kValue; the class of kClass
    Symbol name;                  // that it binds; not valid: none
    std::span<const Pattern* const> items;
    Exprs keys;                        // of kMapping, one for each item
    std::span<const Symbol> keywords;  // of kClass, of its last items
};

// A suite of `try` or `match`, and its head.
struct Clause {
    std::string_view keyword;  // case, try, except, else, finally
    Range range;               // of the keyword
    Stmts body;
    const Pattern* pattern = nullptr;  // of `case`
    const Expr* test = nullptr;        // the guard of `case`, the class of `except`; may be null
    Symbol name;                       // except ... as name
    bool is_group = false;             // except*
    bool is_understood = true;
};

struct WithItem {
    const Expr* context;
    const Expr* target;  // may be null
};

// `class`, `with`, `try` or `match`. `body` has the statements of all its suites in order, so that
// functions inside are seen.
struct OpaqueStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::kOpaque;
    std::string_view keyword;
    Range keyword_range;
    Stmts body;
    std::span<const Symbol> head_names;  // all names in the heads; that of a class is the first
    Exprs decorators;                    // of a class
    // What the heads say; empty where one of them is not understood.
    const Expr* subject = nullptr;    // of `match`
    std::span<const Clause> clauses;  // of `match` and `try`
    std::span<const WithItem> items;  // of `with`
    bool is_async = false;
    Exprs bases;  // of a class, where nothing else is in brackets
};

// --- The tree ------------------------------------------------------------------------------------

template <typename T, typename Base>
const T* as(const Base* node) {
    SDX_CHECK(node->kind == T::kKind);
    return static_cast<const T*>(node);
}

// Null when the node is of another kind.
template <typename T, typename Base>
const T* maybe_as(const Base* node) {
    return node != nullptr && node->kind == T::kKind ? static_cast<const T*>(node) : nullptr;
}

struct Tree {
    diagnostics::FileId file;
    Arena arena;
    Interner names;
    Stmts body;
    std::vector<Range> directives;  // the comments `# sardonyx: ...`, from there to their ends
    bool has_named = false;         // whether `:=` stands anywhere in the file
    bool has_errors = false;        // whether some of the text has not been understood

    diagnostics::Span span(Range range) const { return {file, range.begin, range.end}; }
};

}  // namespace sardonyx::syntax
