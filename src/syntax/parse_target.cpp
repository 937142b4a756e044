// Places that are bound: targets of assignments and loops, and parameters.
#include "syntax/parser.h"

#include <algorithm>

namespace sardonyx::syntax {
namespace {

using T = TokenKind;

std::string_view describe(ExprKind kind) {
    switch (kind) {
        case ExprKind::kCall:
            return "a call";
        case ExprKind::kInt:
        case ExprKind::kFloat:
        case ExprKind::kImaginary:
        case ExprKind::kString:
        case ExprKind::kBytes:
            return "a literal";
        case ExprKind::kFString:
            return "an f-string";
        case ExprKind::kBool:
        case ExprKind::kNone:
        case ExprKind::kEllipsis:
            return "a constant";
        case ExprKind::kCompare:
            return "a comparison";
        case ExprKind::kLambda:
            return "a lambda";
        case ExprKind::kDict:
            return "a dict";
        case ExprKind::kSet:
            return "a set";
        case ExprKind::kComprehension:
            return "a comprehension";
        case ExprKind::kIfExp:
            return "a conditional expression";
        default:
            return "an expression";
    }
}

}  // namespace

// star_targets: star_target (',' star_target)* [',']
// star_target: '*' star_target | t_primary '.' NAME | t_primary '[' slices ']' | star_atom
const Expr* Parser::star_targets() {
    uint32_t begin = token_->begin;
    auto star_target = [this]() { return at(T::kStar) ? star_expression() : bitwise_or(); };
    const Expr* first = star_target();
    if (at(T::kComma)) {
        List<const Expr*> items(exprs_);
        items.push(first);
        while (accept(T::kComma) && begins_expression()) {
            items.push(star_target());
        }
        first = sequence(ExprKind::kTuple, copy(items), since(begin));
    }
    check_target(first, "assign to", Star::kAllowed);
    return first;
}

// Says so when `target` cannot be bound; `verb` is "assign to" or "delete".
bool Parser::check_target(const Expr* target, std::string_view verb, Star star) {
    if (failed_) {
        return false;
    }
    switch (target->kind) {
        case ExprKind::kError:
        case ExprKind::kName:
        case ExprKind::kAttribute:
        case ExprKind::kSubscript:
            return true;
        case ExprKind::kStarred:
            if (star == Star::kAllowed) {
                return check_target(static_cast<const PrefixExpr*>(target)->operand, verb,
                                    Star::kRefused);
            }
            break;
        case ExprKind::kTuple:
        case ExprKind::kList:
            for (const Expr* item : static_cast<const SequenceExpr*>(target)->items) {
                if (!check_target(item, verb, star)) {
                    return false;
                }
            }
            return true;
        default:
            break;
    }
    if (auto* added =
            report(kInvalidTarget, target->range,
                   "cannot " + std::string(verb) + " " + std::string(describe(target->kind)))) {
        bool compares = verb == "assign to" && target->kind != ExprKind::kStarred;
        added->with_help(std::string("write a name, an attribute, an item or a tuple of these") +
                         (compares ? ", or `==` to compare" : ""));
    }
    failed_ = true;
    return false;
}

bool Parser::repeated(const List<Parameter>& items, Symbol name) const {
    constexpr size_t kMany = 1000;  // the search is quadratic
    const auto& all = items.items();
    return all.size() < kMany && std::any_of(all.begin(), all.end(), [&](const Parameter& item) {
               return item.name == name;
           });
}

// param: NAME [':' expression] ['=' expression]
void Parser::parameter(List<Parameter>& items, ParameterKind made, ParametersOf owner) {
    Range name = range();
    if (!expect(T::kName, "a parameter is a name, as in `x`, `x: FLOAT` or `x=1`")) {
        return;
    }
    Parameter added{intern(name), made, place(name), nullptr, nullptr};
    if (repeated(items, added.name) && !failed_) {
        if (auto* said = report(
                kInvalidParameter, name,
                "two parameters are called `" + std::string(text(name.begin, name.end)) + "`")) {
            said->with_help("give each a name of its own");
        }
    }
    if (owner == ParametersOf::kFunction && accept(T::kColon)) {
        added.annotation = made == ParameterKind::kVarArgs ? star_expression() : expression();
    }
    bool variadic = made == ParameterKind::kVarArgs || made == ParameterKind::kKeywordArgs;
    if (!variadic && accept(T::kEqual)) {
        added.default_value = expression();
    }
    bool follows_default =
        made == ParameterKind::kNormal && !items.empty() && items.back().default_value != nullptr;
    if (follows_default && added.default_value == nullptr && !failed_) {
        if (auto* said = report(kInvalidParameter, name,
                                "a parameter without a default follows one that has a default")) {
            said->label(tree_.span(items.back().range), "this one has a default");
            said->with_help("give it a default, or move it before the other");
        }
    }
    items.push(added);
}

// parameters: (param ',')* ['/' ','] (param ',')* ['*' [param] ',' (param ',')*] ['**' param]
// A lambda's have no annotations.
const Parameters* Parser::parameters(ParametersOf owner) {
    T closer = owner == ParametersOf::kLambda ? T::kColon : T::kRightParen;
    List<Parameter> items(parameters_);
    ParameterKind next = ParameterKind::kNormal;
    bool slash = false;
    bool bare_star = false;
    bool keywords = false;
    auto invalid = [this](std::string words, std::string help) {
        if (auto* added = fail(kInvalidParameter, shown(), std::move(words))) {
            added->with_help(std::move(help));
        }
    };
    while (!at(closer) && !failed_) {
        if (keywords) {
            invalid("a parameter follows `**`", "move `**` to the end");
            break;
        }
        bare_star = false;
        if (at(T::kSlash)) {
            if (slash || items.empty() || next != ParameterKind::kNormal) {
                invalid("`/` must follow the parameters that are positional only",
                        "write one `/`, after a parameter and before `*`");
                break;
            }
            slash = true;
            for (size_t i = parameters_.size() - items.size(); i < parameters_.size(); ++i) {
                parameters_[i].kind = ParameterKind::kPositionalOnly;
            }
            advance();
        } else if (at(T::kStar)) {
            if (next != ParameterKind::kNormal) {
                invalid("a second `*`", "write one `*`, before the keyword-only parameters");
                break;
            }
            next = ParameterKind::kKeywordOnly;
            advance();
            bare_star = at(T::kComma) || at(closer);
            if (!bare_star) {
                parameter(items, ParameterKind::kVarArgs, owner);
            }
        } else if (accept(T::kDoubleStar)) {
            keywords = true;
            parameter(items, ParameterKind::kKeywordArgs, owner);
        } else {
            parameter(items, next, owner);
        }
        if (!accept(T::kComma)) {
            break;
        }
    }
    if (bare_star && !failed_) {
        invalid("no parameter follows the bare `*`", "write a keyword-only parameter after it");
    }
    return tree_.arena.make<Parameters>(copy(items));
}

}  // namespace sardonyx::syntax
