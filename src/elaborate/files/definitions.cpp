// The calls of a script that are wrong by the text alone.
#include "elaborate/files/definitions.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "calls/check.h"
#include "elaborate/activation.h"
#include "elaborate/emit/operator_binding.h"
#include "elaborate/flow/bindings.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/tolerance.h"
#include "ops/schema_set.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

namespace {

bool is_none_literal(const Expr* node) {
    return node->kind == ExprKind::kNone;
}

// Whether arguments stand in the call that only running tells: `*args`, `**kwargs`.
bool has_unpacked(const syntax::CallExpr* call) {
    bool found = false;
    for (const Expr* one : call->args) {
        found = found || one->kind == ExprKind::kStarred;
    }
    for (const syntax::Keyword& one : call->keywords) {
        found = found || !one.name.valid();
    }
    return found;
}

// Whether the keyword is one that the operator has, with a value that it may have, given once.
bool fits_keyword(const ops::Schema& schema, const syntax::CallExpr* call, std::string_view name,
                  const Expr* value) {
    calls::Place place = calls::place_of(schema, name);
    if (place.attribute != nullptr) {
        const auto* text = syntax::maybe_as<syntax::StringExpr>(value);
        return text == nullptr || !calls::check_enumeration(*place.attribute, text->value);
    }
    return place.input && *place.input >= call->args.size();
}

const syntax::Keyword* find_keyword(const syntax::Tree& tree, const syntax::CallExpr* call,
                                    std::string_view name) {
    for (const syntax::Keyword& keyword : call->keywords) {
        if (keyword.name.valid() && tree.names.text(keyword.name) == name) {
            return &keyword;
        }
    }
    return nullptr;
}

// Whether the call may be right for this schema. Where a name stands, a tensor is taken for given.
bool fits(const ops::Schema& schema, const syntax::Tree& tree, const syntax::CallExpr* call) {
    if (schema.is_deprecated) {
        return false;
    }
    size_t count = call->args.size();
    for (const syntax::Keyword& keyword : call->keywords) {
        if (!keyword.name.valid()) {
            continue;
        }
        std::string_view name = tree.names.text(keyword.name);
        if (!fits_keyword(schema, call, name, keyword.value)) {
            return false;
        }
        calls::Place place = calls::place_of(schema, name);
        count = place.input ? std::max(count, *place.input + 1) : count;
    }
    if (has_unpacked(call)) {
        return true;
    }
    auto is_given = [&](std::string_view name) {
        const syntax::Keyword* given = find_keyword(tree, call, name);
        return given != nullptr && !is_none_literal(given->value);
    };
    auto is_input = [&](size_t i) {
        return i < call->args.size() ? !is_none_literal(call->args[i])
                                     : i < schema.inputs.size() && is_given(schema.inputs[i].name);
    };
    bool has_all = true;
    calls::check_required(schema, is_given, [&has_all](const auto&) { has_all = false; });
    return has_all && !calls::check_inputs(schema, count, is_input);
}

// Whether no version of the opset that the script may be compiled for takes the call. `schema`:
// what the text says, null where the opset has no such operator.
bool is_mistaken(const ops::SchemaSet* schemas, const OpsetObject& opset, const syntax::Tree& tree,
                 const ops::Schema* schema, const syntax::CallExpr* call) {
    if (schema != nullptr && fits(*schema, tree, call)) {
        return false;
    }
    std::string_view name =
        tree.names.text(static_cast<const syntax::AttributeExpr*>(call->callee)->name);
    const ops::DomainInfo* domain = ops::find_domain(opset.domain);
    bool is_known = domain == nullptr ? ops::has_domain(schemas, opset.domain)
                                      : opset.version >= domain->oldest_version &&
                                            opset.version <= domain->newest_version;
    if (!is_known || !opset.domain.empty()) {
        return is_known;
    }
    // `opset=` of a compilation takes the place of what the text says.
    std::span<const ops::Schema> versions = ops::schema_versions(opset.domain, name);
    return std::none_of(versions.begin(), versions.end(),
                        [&](const ops::Schema& one) { return fits(one, tree, call); }) &&
           (schema != nullptr || !versions.empty() ||
            ops::first_version(schemas, opset.domain, name) == 0);
}

// Whether a statement that holds others may end the function.
bool may_leave(const Stmt* statement) {
    if (statement->kind == StmtKind::kReturn || statement->kind == StmtKind::kRaise ||
        statement->kind == StmtKind::kAssert || statement->kind == StmtKind::kError) {
        return true;
    }
    if (statement->kind == StmtKind::kFunctionDef) {
        return false;
    }
    bool found = false;
    syntax::each_child(
        statement, [](const Expr*) {},
        [&found](const Stmt* inner) { found = found || may_leave(inner); });
    return found;
}

// Goes through what is computed in every case, in the order of the computation.
class CallFinder {
  public:
    CallFinder(const syntax::Tree& tree, const ops::SchemaSet* schemas, const OpsetOfName& opset_of)
        : tree_(tree), schemas_(schemas), opset_of_(opset_of) {}

    void block(Stmts statements) {
        for (const Stmt* statement : statements) {
            stmt(statement);
            if (may_leave(statement)) {
                return;
            }
        }
    }

    std::vector<MistakenCall> found;

  private:
    void stmt(const Stmt* statement) {
        switch (statement->kind) {
            case StmtKind::kExpr:
            case StmtKind::kReturn:
            case StmtKind::kAssign:
                syntax::each_child(
                    statement, [this](const Expr* child) { expr(child); }, [](const Stmt*) {});
                break;
            case StmtKind::kAugAssign:
                expr(syntax::as<syntax::AugAssignStmt>(statement)->value);
                break;
            case StmtKind::kAnnAssign:
                if (const Expr* value = syntax::as<syntax::AnnAssignStmt>(statement)->value) {
                    expr(value);
                }
                break;
            case StmtKind::kIf:
                expr(syntax::as<syntax::IfStmt>(statement)->condition);
                break;
            case StmtKind::kFor:
                expr(syntax::as<syntax::ForStmt>(statement)->iterable);
                break;
            case StmtKind::kWhile:
                expr(syntax::as<syntax::WhileStmt>(statement)->condition);
                break;
            default:
                break;
        }
    }

    void expr(const Expr* node) {
        switch (node->kind) {
            case ExprKind::kName:
            case ExprKind::kInt:
            case ExprKind::kFloat:
            case ExprKind::kString:
            case ExprKind::kLambda:
                break;
            case ExprKind::kAttribute:
                expr(static_cast<const syntax::AttributeExpr*>(node)->value);
                break;
            case ExprKind::kBinary: {
                // A sum of many terms is gone through, not down into.
                std::vector<const Expr*> rights;
                while (const auto* sum = syntax::maybe_as<syntax::BinaryExpr>(node)) {
                    rights.push_back(sum->right);
                    node = sum->left;
                }
                expr(node);
                std::for_each(rights.rbegin(), rights.rend(),
                              [this](const Expr* right) { expr(right); });
                break;
            }
            case ExprKind::kBoolOp:
                expr(syntax::as<syntax::BoolOpExpr>(node)->operands[0]);
                break;
            case ExprKind::kCompare:
                expr(syntax::as<syntax::CompareExpr>(node)->left);
                expr(syntax::as<syntax::CompareExpr>(node)->rights[0]);
                break;
            case ExprKind::kIfExp:
                expr(syntax::as<syntax::IfExpExpr>(node)->condition);
                break;
            case ExprKind::kComprehension:
                expr(syntax::as<syntax::ComprehensionExpr>(node)->clauses[0].iterable);
                break;
            case ExprKind::kCall: {
                size_t before = found.size();
                const auto* call = syntax::as<syntax::CallExpr>(node);
                expr(call->callee);
                for (const Expr* one : call->args) {
                    if (one->kind != ExprKind::kName) {
                        expr(one);
                    }
                }
                for (const syntax::Keyword& one : call->keywords) {
                    expr(one.value);
                }
                if (found.size() == before) {
                    judge(call);
                }
                break;
            }
            default:
                syntax::each_child(node, [this](const Expr* child) { expr(child); });
                break;
        }
    }

    void judge(const syntax::CallExpr* call) {
        const auto* callee = syntax::maybe_as<syntax::AttributeExpr>(call->callee);
        const auto* base =
            callee != nullptr ? syntax::maybe_as<syntax::NameExpr>(callee->value) : nullptr;
        if (base == nullptr || !callee->name.valid()) {
            return;
        }
        const std::optional<OpsetObject>& opset = opset_of(base->name);
        if (opset && is_mistaken(schemas_, *opset, tree_, schema_of(*opset, callee->name), call)) {
            found.push_back({call, *opset});
        }
    }

    const std::optional<OpsetObject>& opset_of(Symbol name) {
        if (name != last_) {
            last_ = name;
            opset_ = opset_of_(tree_.names.text(name));
            known_ = {};
        }
        return opset_;
    }

    const ops::Schema* schema_of(const OpsetObject& opset, Symbol name) {
        auto& [known, schema] = known_[name.index % known_.size()];
        if (known != name) {
            known = name;
            schema =
                ops::find_schema(schemas_, opset.domain, tree_.names.text(name), opset.version);
        }
        return schema;
    }

    const syntax::Tree& tree_;
    const ops::SchemaSet* schemas_;
    const OpsetOfName& opset_of_;
    Symbol last_;  // what has been asked for last
    std::optional<OpsetObject> opset_;
    // Operators of the opset that were looked up: a script calls few of them, many times.
    std::array<std::pair<Symbol, const ops::Schema*>, 16> known_;
};

// The names that the function binds or declares, in any way.
std::vector<Symbol> bound_names(const Interner& texts, const syntax::FunctionDefStmt* definition) {
    std::vector<Symbol> names;
    for (const syntax::Parameter& parameter : definition->parameters->items) {
        names.push_back(parameter.name);
    }
    auto see = [&names](const Bound& one) { names.push_back(one.name); };
    each_binding<binds::kOwn | binds::kMaybe | binds::kOuter>(&texts, definition->body, see);
    return names;
}

// An argument as far as the text says it: None for what is left out, and integers, of which only
// that they are some matters to the help.
Object literal_or_unknown(const Expr* node) {
    if (const auto* number = syntax::maybe_as<syntax::IntExpr>(node)) {
        return Object::integer(number->value);
    }
    const auto* minus = syntax::maybe_as<syntax::UnaryExpr>(node);
    if (minus != nullptr && minus->op == syntax::UnaryOp::kMinus) {
        return literal_or_unknown(minus->operand);
    }
    return is_none_literal(node) ? Object::none() : Object::error();
}

// Says what is wrong as the compilation does (operator_binding.h).
void report_call(Context& c, const MistakenCall& mistake) {
    const auto* callee = static_cast<const syntax::AttributeExpr*>(mistake.call->callee);
    Arguments arguments;
    arguments.range = mistake.call->range;
    arguments.callee_range = callee->name_range;
    arguments.receiver = static_cast<const syntax::NameExpr*>(callee->value)->name;
    bool is_known = true;
    const ops::Schema* schema =
        find_operator(c, mistake.opset, c.text(callee->name), arguments, is_known);
    if (schema == nullptr) {
        return;
    }
    arguments.positional.reserve(mistake.call->args.size());
    BoundCall bound;
    for (const Expr* argument : mistake.call->args) {
        arguments.positional.push_back(literal_or_unknown(argument));
        bound.inputs.push_back({&arguments.positional.back(), argument->range});
    }
    for (const syntax::Keyword& keyword : mistake.call->keywords) {
        if (keyword.name.valid()) {
            const auto* text = syntax::maybe_as<syntax::StringExpr>(keyword.value);
            arguments.keywords.push_back({c.text(keyword.name),
                                          text != nullptr ? Object::string(std::string(text->value))
                                                          : literal_or_unknown(keyword.value),
                                          keyword.name_range, keyword.value->range});
        }
    }
    for (const KeywordArgument& keyword : arguments.keywords) {
        const ops::AttributeSchema* attribute = calls::place_of(*schema, keyword.name).attribute;
        bool is_judged = attribute == nullptr ||
                         (keyword.value.is(ObjectKind::kString) && !attribute->enumeration.empty());
        if (is_judged) {
            bind_keyword(c, *schema, keyword, bound);
        }
    }
    if (!has_unpacked(mistake.call)) {
        check_inputs(c, *schema, arguments, bound);
        check_required(c, *schema, arguments, bound);
    }
}

}  // namespace

std::vector<MistakenCall> mistaken_calls(const ScriptFunction& function,
                                         const ops::SchemaSet* schemas,
                                         const OpsetOfName& opset_of) {
    CallFinder finder(*function.tree, schemas, opset_of);
    finder.block(function.definition->body);
    if (!finder.found.empty()) {
        // Asked here alone: where nothing is mistaken, it does not matter whose the name is.
        std::vector<Symbol> own = bound_names(function.tree->names, function.definition);
        std::erase_if(finder.found, [&own](const MistakenCall& one) {
            const auto* callee = static_cast<const syntax::AttributeExpr*>(one.call->callee);
            Symbol base = static_cast<const syntax::NameExpr*>(callee->value)->name;
            return std::find(own.begin(), own.end(), base) != own.end();
        });
    }
    return std::move(finder.found);
}

void report_mistaken_calls(Program& program, const ScriptFunction& function, const Options& options,
                           const std::vector<MistakenCall>& calls) {
    ScratchBody body(program, function, options);
    Context& c = body.context;
    if (is_for_onnxscript(c)) {
        return;
    }
    for (const MistakenCall& one : calls) {
        report_call(c, one);
    }
}

}  // namespace sardonyx::elaborate
