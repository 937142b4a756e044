#include "elaborate/emit/repairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "elaborate/emit/opsets.h"
#include "elaborate/objects/context.h"
#include "ops/ops.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using diagnostics::Diagnostic;
using syntax::Expr;
using syntax::ExprKind;
using syntax::Range;

// An expression inside a string annotation has the place of the string: there nothing is replaced.
void offer_name(Context& c, Diagnostic& reported, Range range, std::string_view old,
                std::string_view name) {
    if (c.source(range) == old) {
        reported.edit(c.span(range), std::string(name));
    }
}

void offer_string(Context& c, Diagnostic& reported, Range range, std::string_view text) {
    std::string_view source = c.source(range);
    char quote = source.size() < 2 ? ' ' : source[0];
    bool is_plain = (quote == '"' || quote == '\'') && source.back() == quote &&
                    source.find(quote, 1) == source.size() - 1 &&
                    source.find('\\') == std::string_view::npos;
    if (is_plain) {
        reported.edit(c.span(range), fmt::format("{}{}{}", quote, text, quote));
    }
}

// --- Casts ---------------------------------------------------------------------------------------

namespace {

bool is_common_number(ElementType type) {
    return (is_floating(type) && info(type).bits >= 16) ||
           (is_integer(type) && info(type).bits >= 8);
}

// Whether every number of `from` is one of `to` as well, or, of an integer, at least near it:
// floats swallow integers, as in Python.
bool widens(ElementType from, ElementType to) {
    if (!is_common_number(to) || (!is_common_number(from) && from != ElementType::kBool)) {
        return false;
    }
    if (is_floating(to)) {
        return !is_floating(from) || info(from).bits < info(to).bits;
    }
    if (is_floating(from)) {
        return false;
    }
    bool loses_sign = element_class(from) == ElementClass::kSigned &&
                      element_class(to) == ElementClass::kUnsigned;
    return from == ElementType::kBool || (!loses_sign && info(from).bits < info(to).bits);
}

// The name of an opset that the body uses, or else that the file imports; invalid: there is none.
Symbol opset_name(Context& c) {
    if (NamedOpset named = named_opset(c); named.version != 0) {
        return named.name;
    }
    Environment* environment = c.function().environment;
    if (environment->file_tree() == nullptr) {
        return {};
    }
    for (uint32_t i = 0; i < c.tree().names.size(); ++i) {
        std::optional<Object> object = environment->known(c.text(Symbol{i}));
        if (object && object->is(ObjectKind::kOpset) && object->get<OpsetObject>().domain.empty()) {
            return Symbol{i};
        }
    }
    return {};
}

// `FLOAT.dtype` where the script has that name, else the number of the type.
std::string type_argument(Context& c, ElementType type) {
    std::optional<Object> named = c.function().environment->known(name(type));
    bool is_type = named && named->is(ObjectKind::kType) &&
                   named->get<TypeObject>().type.element_type() == type;
    return is_type ? fmt::format("{}.dtype", name(type))
                   : fmt::format("{}", static_cast<int>(type));
}

}  // namespace

void offer_cast(Context& c, Diagnostic& reported, Range a, ElementType a_type, Range b,
                ElementType b_type) {
    bool first = widens(a_type, b_type);
    if (!first && !widens(b_type, a_type)) {
        return;
    }
    Symbol opset = opset_name(c);
    if (!opset.valid()) {
        return;
    }
    Range range = first ? a : b;
    reported.edit(c.span({range.begin, range.begin}), fmt::format("{}.Cast(", c.text(opset)));
    reported.edit(c.span({range.end, range.end}),
                  fmt::format(", to={})", type_argument(c, first ? b_type : a_type)));
}

// --- Opsets --------------------------------------------------------------------------------------

namespace {

bool same_default(const ops::AttributeSchema& a, const ops::AttributeSchema& b) {
    return a.has_default == b.has_default && a.default_int == b.default_int &&
           a.default_float == b.default_float && a.default_string == b.default_string &&
           std::ranges::equal(a.default_ints, b.default_ints) &&
           std::ranges::equal(a.default_floats, b.default_floats) &&
           std::ranges::equal(a.default_strings, b.default_strings);
}

// Whether every call that the older version takes means the same in the newer one, as far as the
// schemas tell.
bool is_compatible(const ops::Schema& older, const ops::Schema& newer) {
    if (&older == &newer) {
        return true;
    }
    bool attributes = std::ranges::all_of(older.attributes, [&](const ops::AttributeSchema& one) {
        const ops::AttributeSchema* other = newer.find_attribute(one.name);
        return other != nullptr && other->type == one.type && same_default(one, *other);
    });
    auto same_parameters = [](std::span<const ops::Parameter> a,
                              std::span<const ops::Parameter> b) {
        return a.size() <= b.size() &&
               std::equal(a.begin(), a.end(), b.begin(),
                          [](const ops::Parameter& x, const ops::Parameter& y) {
                              return x.name == y.name && x.option == y.option;
                          });
    };
    return attributes && !newer.is_deprecated && same_parameters(older.inputs, newer.inputs) &&
           same_parameters(older.outputs, newer.outputs);
}

// The only import that binds the name in the file; null when something else binds it too.
const syntax::Alias* import_of(const syntax::Tree& tree, Symbol bound) {
    const syntax::Alias* found = nullptr;
    for (const syntax::Stmt* statement : tree.body) {
        const auto* import = syntax::maybe_as<syntax::ImportFromStmt>(statement);
        if (import == nullptr) {
            continue;
        }
        for (const syntax::Alias& alias : import->names) {
            if ((alias.as_name.valid() ? alias.as_name : alias.name) == bound) {
                if (found != nullptr) {
                    return nullptr;
                }
                found = &alias;
            }
        }
    }
    return found;
}

// What a file does with the name of an opset.
struct OpsetUses {
    std::set<std::string_view> operators;
    std::vector<Range> places;
};

OpsetUses uses_of(const syntax::Tree& tree, Symbol opset) {
    OpsetUses uses;
    auto see = [&](const Expr* expr) {
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(expr)) {
            if (name->name == opset) {
                uses.places.push_back(name->range);
            }
        } else if (const auto* member = syntax::maybe_as<syntax::AttributeExpr>(expr)) {
            const auto* base = syntax::maybe_as<syntax::NameExpr>(member->value);
            if (base != nullptr && base->name == opset && member->name.valid()) {
                uses.operators.insert(tree.names.text(member->name));
            }
        }
    };
    syntax::each_expression(tree.body, see);
    return uses;
}

bool all_compatible(const OpsetUses& uses, const OpsetObject& opset, int64_t wanted) {
    return std::ranges::all_of(uses.operators, [&](std::string_view name) {
        const ops::Schema* older = ops::find_schema(opset.domain, name, opset.version);
        const ops::Schema* newer = ops::find_schema(opset.domain, name, wanted);
        return older == nullptr || (newer != nullptr && is_compatible(*older, *newer));
    });
}

}  // namespace

void offer_opset(Context& c, Diagnostic& reported, Symbol receiver, const OpsetObject& opset,
                 int64_t wanted) {
    constexpr int64_t kOldestOfPython = 7;  // before, Add and its like do not broadcast
    const Environment* environment = c.function().environment;
    const syntax::Tree* tree = environment != nullptr ? environment->file_tree() : nullptr;
    bool is_first =
        receiver.valid() && tree == &c.tree() && c.opset_offers.insert(receiver.index).second;
    if (!is_first || opset.version < kOldestOfPython) {
        return;
    }
    const syntax::Alias* alias = import_of(*tree, receiver);
    std::string old = fmt::format("opset{}", opset.version);
    if (alias == nullptr || tree->names.text(alias->name) != old) {
        return;
    }
    OpsetUses uses = uses_of(*tree, receiver);
    if (!all_compatible(uses, opset, wanted)) {
        return;
    }
    std::string fresh = fmt::format("opset{}", wanted);
    uint32_t begin = alias->range.begin;
    offer_name(c, reported, {begin, begin + static_cast<uint32_t>(old.size())}, old, fresh);
    for (Range place : alias->as_name.valid() ? std::vector<Range>() : uses.places) {
        offer_name(c, reported, place, old, fresh);
    }
}

// --- Truth values --------------------------------------------------------------------------------

namespace {

// What binds less tightly than `&`, `|` and `~` (Python reference 6.17).
bool needs_brackets(const Expr* expr) {
    switch (expr->kind) {
        case ExprKind::kCompare:
        case ExprKind::kBoolOp:
        case ExprKind::kLambda:
        case ExprKind::kIfExp:
        case ExprKind::kNamed:
        case ExprKind::kBinary:
            return true;
        case ExprKind::kUnary:
            return syntax::as<syntax::UnaryExpr>(expr)->op == syntax::UnaryOp::kNot;
        default:
            return false;
    }
}

bool has_brackets(Context& c, Range range) {
    std::string_view text = c.program.sources.text(c.tree().file);
    return range.begin > 0 && range.end < text.size() && text[range.begin - 1] == '(' &&
           text[range.end] == ')';
}

void offer_brackets(Context& c, Diagnostic& reported, const Expr* expr) {
    if (needs_brackets(expr) && !has_brackets(c, expr->range)) {
        reported.edit(c.span({expr->range.begin, expr->range.begin}), "(");
        reported.edit(c.span({expr->range.end, expr->range.end}), ")");
    }
}

}  // namespace

void offer_operator(Context& c, Diagnostic& reported, const syntax::BoolOpExpr* expr) {
    constexpr std::string_view kBetween = " \t()\r\n\\";
    std::string_view word = expr->is_and ? "and" : "or";
    std::vector<Range> words;
    for (size_t i = 1; i < expr->operands.size(); ++i) {
        Range gap{expr->operands[i - 1]->range.end, expr->operands[i]->range.begin};
        std::string_view text = c.source(gap);
        size_t at = text.find_first_not_of(kBetween);
        size_t end = text.find_last_not_of(kBetween);
        if (at == std::string_view::npos || text.substr(at, end + 1 - at) != word) {
            return;  // a comment stands between
        }
        uint32_t begin = gap.begin + static_cast<uint32_t>(at);
        words.push_back({begin, begin + static_cast<uint32_t>(word.size())});
    }
    for (Range range : words) {
        reported.edit(c.span(range), expr->is_and ? "&" : "|");
    }
    for (const Expr* operand : expr->operands) {
        offer_brackets(c, reported, operand);
    }
}

void offer_operator(Context& c, Diagnostic& reported, const syntax::UnaryExpr* expr) {
    std::string_view text = c.source(expr->range);
    if (text.substr(0, 3) != "not") {
        return;
    }
    uint32_t length = 3;
    while (length < text.size() && text[length] == ' ') {
        ++length;
    }
    reported.edit(c.span({expr->range.begin, expr->range.begin + length}), "~");
    offer_brackets(c, reported, expr->operand);
}

}  // namespace sardonyx::elaborate
