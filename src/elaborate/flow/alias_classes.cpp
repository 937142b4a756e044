// Which names of a function's body may mean the same tensor, by its text alone.
#include "elaborate/flow/alias_classes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "elaborate/flow/bindings.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/unknowns.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

uint32_t AliasClasses::find(uint32_t name) {
    auto place = parents.try_emplace(name, name).first;
    while (place->second != name) {
        uint32_t& parent = parents[place->second];
        place->second = parent;  // halves the way for the next search
        name = parent;
        place = parents.find(name);
    }
    return name;
}

namespace {

using Names = std::vector<Symbol>;

class AliasCollector {
  public:
    AliasCollector(Context& c, AliasClasses& classes, Stmts body) : c_(c), classes_(classes) {
        for (const Stmt* statement : body) {
            find_functions(statement);
        }
    }

    void block(Stmts statements) {
        for (const Stmt* statement : statements) {
            stmt(statement);
        }
    }

    // The names whose tensor an expression may be, or may hold.
    void passed(const Expr* expr, Names& names) {
        if (expr == nullptr) {
            return;
        }
        switch (expr->kind) {
            case ExprKind::kName:
                names.push_back(syntax::as<syntax::NameExpr>(expr)->name);
                break;
            case ExprKind::kTuple:
            case ExprKind::kList:
                all_passed(static_cast<const syntax::SequenceExpr*>(expr)->items, names);
                break;
            case ExprKind::kDict:
                all_passed(syntax::as<syntax::DictExpr>(expr)->values, names);
                break;
            case ExprKind::kStarred:
                passed(static_cast<const syntax::PrefixExpr*>(expr)->operand, names);
                break;
            case ExprKind::kSubscript:
                if (holds_objects(expr)) {
                    passed(syntax::as<syntax::SubscriptExpr>(expr)->value, names);
                }
                break;
            case ExprKind::kAttribute:  // of an instance or a named tuple
                passed(syntax::as<syntax::AttributeExpr>(expr)->value, names);
                break;
            case ExprKind::kIfExp:
                passed(syntax::as<syntax::IfExpExpr>(expr)->body, names);
                passed(syntax::as<syntax::IfExpExpr>(expr)->orelse, names);
                break;
            case ExprKind::kBoolOp:
                all_passed(syntax::as<syntax::BoolOpExpr>(expr)->operands, names);
                break;
            case ExprKind::kNamed:
                passed(syntax::as<syntax::NamedExpr>(expr)->target, names);
                passed(syntax::as<syntax::NamedExpr>(expr)->value, names);
                break;
            case ExprKind::kComprehension: {
                const auto* node = syntax::as<syntax::ComprehensionExpr>(expr);
                Names inner;
                passed(node->element, inner);
                passed(node->value, inner);
                for (size_t i = 0; !inner.empty() && i < node->clauses.size(); ++i) {
                    iterated(node->clauses[i].iterable, inner);
                }
                names.insert(names.end(), inner.begin(), inner.end());
                break;
            }
            case ExprKind::kBinary:
                if (may_be_list(expr)) {  // xs + [x]
                    each_operand(syntax::as<syntax::BinaryExpr>(expr),
                                 [&](const Expr* operand) { passed(operand, names); });
                }
                break;
            case ExprKind::kLambda:
                passed(syntax::as<syntax::LambdaExpr>(expr)->body, names);
                for (const syntax::Parameter& one :
                     syntax::as<syntax::LambdaExpr>(expr)->parameters->items) {
                    passed(one.default_value, names);
                }
                break;
            case ExprKind::kCall: {
                const auto* node = syntax::as<syntax::CallExpr>(expr);
                if (may_pass(node)) {
                    const auto* method = syntax::maybe_as<syntax::AttributeExpr>(node->callee);
                    if (method != nullptr) {
                        passed(method->value, names);
                    } else if (!is_builtin_call(node)) {
                        passed(node->callee, names);
                    }
                    all_passed(node->args, names);
                    for (const syntax::Keyword& keyword : node->keywords) {
                        passed(keyword.value, names);
                    }
                }
                break;
            }
            default:
                break;
        }
    }

  private:
    // A nested function or lambda: what it may return, and whether it puts something into a list.
    struct Function {
        const syntax::Parameters* parameters;
        std::vector<const Expr*> results;
        bool stores = false;
    };
    enum class Freshness : uint8_t { kUnknown, kBeingFound, kFresh, kPassing };

    void unite(const Names& names) {
        for (size_t i = 1; i < names.size(); ++i) {
            uint32_t root = classes_.find(names[0].index);
            classes_.parents[classes_.find(names[i].index)] = root;
        }
    }

    // --- Functions of the body

    void find_function(Symbol name, Function function) {
        functions_[name.index].push_back(std::move(function));
    }

    void find_results(const Stmt* statement, Function& function) {
        if (const auto* result = syntax::maybe_as<syntax::ReturnStmt>(statement)) {
            function.results.push_back(result->value);
        }
        auto find_store = [this, &function](const Expr* node) {
            const auto* call = syntax::maybe_as<syntax::CallExpr>(node);
            function.stores = function.stores || (call != nullptr && is_passing_method(call));
        };
        if (const auto* assign = syntax::maybe_as<syntax::AssignStmt>(statement)) {
            for (const Expr* target : assign->targets) {
                function.stores = function.stores || target->kind == ExprKind::kSubscript;
            }
        }
        syntax::each_child(
            statement,
            [&find_store](const Expr* child) { syntax::each_expression(child, find_store); },
            [this, &function](const Stmt* child) {
                if (child->kind != StmtKind::kFunctionDef) {
                    find_results(child, function);
                }
            });
    }

    // Names that are bound to something other than a function of the body are not looked through.
    void find_functions(const Stmt* statement) {
        auto add = [this](const Bound& one) { others_.insert(one.name.index); };
        const auto* assign = syntax::maybe_as<syntax::AssignStmt>(statement);
        const auto* lambda =
            assign != nullptr ? syntax::maybe_as<syntax::LambdaExpr>(assign->value) : nullptr;
        if (const auto* definition = syntax::maybe_as<syntax::FunctionDefStmt>(statement)) {
            Function function{definition->parameters, {}};
            for (const Stmt* inner : definition->body) {
                find_results(inner, function);
            }
            find_function(definition->name, std::move(function));
            add_parameters(definition->parameters);
        } else if (lambda != nullptr) {
            for (const Expr* target : assign->targets) {
                if (const auto* name = syntax::maybe_as<syntax::NameExpr>(target)) {
                    find_function(name->name, {lambda->parameters, {lambda->body}});
                } else {
                    each_target(target, binds::kTarget, add);
                }
            }
        } else {
            each_own_binding<binds::kOwn & ~binds::kImport & ~binds::kNamed>(nullptr, statement,
                                                                             add);
        }
        // Names that inner scopes bind hide a function, too.
        auto find_inside = [this, &add](const Expr* node) {
            if (const auto* one = syntax::maybe_as<syntax::LambdaExpr>(node)) {
                add_parameters(one->parameters);
            } else if (const auto* named = syntax::maybe_as<syntax::NamedExpr>(node)) {
                others_.insert(named->target->name.index);
            } else if (const auto* all = syntax::maybe_as<syntax::ComprehensionExpr>(node)) {
                for (const syntax::ComprehensionFor& clause : all->clauses) {
                    each_target(clause.target, binds::kTarget, add);
                }
            }
        };
        syntax::each_child(
            statement,
            [&find_inside](const Expr* child) { syntax::each_expression(child, find_inside); },
            [this](const Stmt* child) { find_functions(child); });
    }

    void add_parameters(const syntax::Parameters* parameters) {
        for (const syntax::Parameter& parameter : parameters->items) {
            others_.insert(parameter.name.index);
        }
    }

    // Whether every call of the name makes something new, and keeps nothing.
    bool makes_new(Symbol name) {
        auto found = functions_.find(name.index);
        if (found == functions_.end() || others_.count(name.index) != 0) {
            return false;
        }
        Freshness& freshness = freshness_[name.index];
        if (freshness == Freshness::kUnknown) {
            freshness = Freshness::kBeingFound;  // of a recursion it is not known
            Names names;
            bool stores = false;
            for (const Function& function : found->second) {
                for (const Expr* result : function.results) {
                    passed(result, names);
                }
                stores = stores || function.stores;
            }
            freshness_[name.index] =
                names.empty() && !stores ? Freshness::kFresh : Freshness::kPassing;
        }
        return freshness_[name.index] == Freshness::kFresh;
    }

    // --- Expressions

    // The object of a name, as far as it is known before the body has run.
    std::optional<Object> object_of(Symbol name) {
        if (const Object* local = c_.at.scope->find(name)) {
            return *local;
        }
        if (others_.count(name.index) != 0 || c_.function().environment == nullptr) {
            return std::nullopt;
        }
        std::optional<Object> object =
            c_.function().environment->lookup_symbol(name, c_.text(name));
        return object && !object->is(ObjectKind::kUnbound) ? object : std::nullopt;
    }

    // Whether items of the expression are objects of their own: those of a list are, those of a
    // tensor are copied when they are read and written.
    bool holds_objects(const Expr* expr) {
        while (const auto* item = syntax::maybe_as<syntax::SubscriptExpr>(expr)) {
            expr = item->value;
        }
        const auto* name = syntax::maybe_as<syntax::NameExpr>(expr);
        const Object* object = name != nullptr ? c_.at.scope->find(name->name) : nullptr;
        return object == nullptr || !object->is_tensor() ||
               object->value()->type.kind() == TypeKind::kSequence;
    }

    template <typename Visit>
    void each_operand(const syntax::BinaryExpr* node, Visit visit) {
        while (const auto* inner = syntax::maybe_as<syntax::BinaryExpr>(node->left)) {
            visit(node->right);
            node = inner;
        }
        visit(node->right);
        visit(node->left);
    }

    // Whether the value may be a list or tuple: what arithmetic gives is new unless all of its
    // operands are lists.
    bool may_be_list(const Expr* expr) {
        switch (expr->kind) {
            case ExprKind::kInt:
            case ExprKind::kFloat:
            case ExprKind::kBool:
            case ExprKind::kString:
            case ExprKind::kUnary:
            case ExprKind::kCompare:
                return false;
            case ExprKind::kName: {
                std::optional<Object> object = object_of(syntax::as<syntax::NameExpr>(expr)->name);
                return !object || !(object->is_tensor_like() || object->is_number()) ||
                       (object->is_tensor() && object->value()->type.kind() == TypeKind::kSequence);
            }
            case ExprKind::kSubscript:
                return holds_objects(expr);
            case ExprKind::kCall:
                return may_pass(syntax::as<syntax::CallExpr>(expr));
            case ExprKind::kBinary:
                return may_be_list(syntax::as<syntax::BinaryExpr>(expr));
            default:
                return true;
        }
    }

    // xs + ys and xs * 2 are lists; what else arithmetic gives is new.
    bool may_be_list(const syntax::BinaryExpr* node) {
        bool repeats = false;
        for (const auto* part = node; part != nullptr;
             part = syntax::maybe_as<syntax::BinaryExpr>(part->left)) {
            if (part->op != syntax::BinaryOp::kAdd && part->op != syntax::BinaryOp::kMul) {
                return false;
            }
            repeats = repeats || part->op == syntax::BinaryOp::kMul;
        }
        bool all = true;
        each_operand(node, [&](const Expr* operand) {
            all = all && ((repeats && operand->kind == ExprKind::kInt) || may_be_list(operand));
        });
        return all;
    }

    void assign(const Expr* target, const Expr* value) {
        if (target->kind == ExprKind::kSubscript && !holds_objects(target)) {
            return;
        }
        const auto* targets = target->kind == ExprKind::kTuple
                                  ? static_cast<const syntax::SequenceExpr*>(target)
                                  : nullptr;
        const auto* values = value->kind == ExprKind::kTuple
                                 ? static_cast<const syntax::SequenceExpr*>(value)
                                 : nullptr;
        if (targets != nullptr && values != nullptr &&
            targets->items.size() == values->items.size()) {
            for (size_t i = 0; i < targets->items.size(); ++i) {
                assign(targets->items[i], values->items[i]);
            }
            return;
        }
        Names names;
        passed(value, names);
        bool may_repeat = targets != nullptr && value->kind == ExprKind::kBinary;  // [y] * 2
        if (!names.empty() || may_repeat) {
            passed(target, names);
            unite(names);
        }
    }

    void all_passed(syntax::Exprs exprs, Names& names) {
        for (const Expr* expr : exprs) {
            passed(expr, names);
        }
    }

    bool is_passing_method(const syntax::CallExpr* call) {
        constexpr std::string_view kPassing[] = {"append", "extend", "insert", "pop",   "get",
                                                 "values", "items",  "copy",   "update"};
        const auto* method = syntax::maybe_as<syntax::AttributeExpr>(call->callee);
        return method != nullptr && method->name.valid() &&
               std::find(std::begin(kPassing), std::end(kPassing), c_.text(method->name)) !=
                   std::end(kPassing);
    }

    // One of a class of the program, or a function of another file.
    bool may_be_own_method(const syntax::CallExpr* call) {
        const auto* method = syntax::as<syntax::AttributeExpr>(call->callee);
        const auto* root = syntax::maybe_as<syntax::NameExpr>(method->value);
        std::optional<Object> object = root != nullptr ? object_of(root->name) : std::nullopt;
        bool is_library = object && (object->is(ObjectKind::kOpset) ||
                                     (object->is(ObjectKind::kModule) &&
                                      object->get<ModuleObject>().environment == nullptr));
        return !is_library && method->name.valid() && c_.text(method->name) != "astype";
    }

    bool is_builtin_call(const syntax::CallExpr* call) {
        const auto* name = syntax::maybe_as<syntax::NameExpr>(call->callee);
        std::optional<Object> object = name != nullptr ? object_of(name->name) : std::nullopt;
        return object && object->is(ObjectKind::kBuiltin);
    }

    // Whether a function returns what it was given: lists of their arguments and functions of the
    // script may, operators and other scripts make new tensors.
    bool may_pass(const syntax::CallExpr* call) {
        if (call->callee->kind == ExprKind::kAttribute) {
            return is_passing_method(call) || may_be_own_method(call);
        }
        const auto* name = syntax::maybe_as<syntax::NameExpr>(call->callee);
        if (name == nullptr) {
            return true;
        }
        constexpr std::string_view kFresh[] = {"range", "len",  "abs", "round", "int",
                                               "float", "bool", "sum", "any",   "all"};
        if (std::find(std::begin(kFresh), std::end(kFresh), c_.text(name->name)) !=
                std::end(kFresh) ||
            makes_new(name->name)) {
            return false;
        }
        std::optional<Object> object = object_of(name->name);
        return !object || !object->is(ObjectKind::kScript);
    }

    // --- Statements

    // What is passed on inside an expression: `:=` and xs.append(a).
    void expr(const Expr* node) {
        auto visit = [this](const Expr* inner) {
            if (const auto* named = syntax::maybe_as<syntax::NamedExpr>(inner)) {
                assign(named->target, named->value);
            } else if (const auto* call = syntax::maybe_as<syntax::CallExpr>(inner);
                       call != nullptr && !is_builtin_call(call)) {
                Names names;  // of what it may keep
                passed(call, names);
                unite(names);
            }
        };
        syntax::each_expression(node, visit);
    }

    // The names of which the target of a loop may hold items: tensors give copies.
    void iterated(const Expr* iterable, Names& names) {
        const auto* call = syntax::maybe_as<syntax::CallExpr>(iterable);
        if (call != nullptr && is_builtin_call(call)) {  // enumerate, zip, reversed
            for (const Expr* argument : call->args) {
                iterated(argument, names);
            }
        } else if (holds_objects(iterable)) {
            passed(iterable, names);
        }
    }

    // The names of patterns hold the subject or what is in it, those of `with` what it is given.
    void heads(const syntax::OpaqueStmt* statement) {
        Names names;
        auto see = [&names](Symbol name) { names.push_back(name); };
        if (statement->subject != nullptr) {
            passed(statement->subject, names);
        }
        for (const syntax::Clause& clause : statement->clauses) {
            if (clause.pattern != nullptr) {
                syntax::each_capture(clause.pattern, see);
            }
        }
        for (const syntax::WithItem& item : statement->items) {
            passed(item.context, names);
            if (item.target != nullptr) {
                passed(item.target, names);
            }
        }
        if (!names.empty()) {
            unite(names);
        }
    }

    void stmt(const Stmt* statement) {
        switch (statement->kind) {
            case StmtKind::kAssign: {
                const auto* node = syntax::as<syntax::AssignStmt>(statement);
                Names together;  // a = b = value
                for (const Expr* target : node->targets) {
                    assign(target, node->value);
                    passed(target, together);
                }
                if (node->targets.size() > 1) {
                    unite(together);
                }
                break;
            }
            case StmtKind::kAugAssign: {
                const auto* node = syntax::as<syntax::AugAssignStmt>(statement);
                if (holds_objects(node->target) && may_be_list(node->value)) {  // xs += [x]
                    assign(node->target, node->value);
                }
                break;
            }
            case StmtKind::kAnnAssign: {
                const auto* node = syntax::as<syntax::AnnAssignStmt>(statement);
                if (node->value != nullptr) {
                    assign(node->target, node->value);
                }
                break;
            }
            case StmtKind::kFor: {
                const auto* node = syntax::as<syntax::ForStmt>(statement);
                Names names;
                iterated(node->iterable, names);
                if (!names.empty()) {
                    passed(node->target, names);
                    unite(names);
                }
                break;
            }
            case StmtKind::kFunctionDef:
                define(syntax::as<syntax::FunctionDefStmt>(statement)->name);
                break;
            case StmtKind::kOpaque:
                heads(syntax::as<syntax::OpaqueStmt>(statement));
                break;
            default:
                break;
        }
        syntax::each_child(
            statement, [this](const Expr* child) { expr(child); },
            [this](const Stmt* child) { stmt(child); });
    }

    // A function that passes something on is of one class with what it may return and with its
    // parameters.
    void define(Symbol name) {
        Names names{name};
        for (const Function& function : functions_[name.index]) {
            for (const syntax::Parameter& parameter : function.parameters->items) {
                passed(parameter.default_value, names);  // which it holds
            }
        }
        unite(names);
        if (makes_new(name)) {
            return;
        }
        for (const Function& function : functions_[name.index]) {
            for (const Expr* result : function.results) {
                passed(result, names);
            }
            for (const syntax::Parameter& parameter : function.parameters->items) {
                names.push_back(parameter.name);
            }
        }
        unite(names);
    }

    Context& c_;
    AliasClasses& classes_;
    std::unordered_map<uint32_t, std::vector<Function>> functions_;  // by name
    std::unordered_map<uint32_t, Freshness> freshness_;
    std::unordered_set<uint32_t> others_;  // names of anything else, too
};

}  // namespace

AliasClasses& alias_classes(Context& c) {
    auto [place, is_new] = c.texts->aliases.try_emplace(c.at.body->data());
    if (is_new) {
        AliasClasses& classes = place->second;
        AliasCollector(c, classes, *c.at.body).block(*c.at.body);
        std::vector<uint32_t> names;
        for (const auto& [name, parent] : classes.parents) {
            names.push_back(name);
        }
        std::sort(names.begin(), names.end());
        for (uint32_t name : names) {
            classes.members[classes.find(name)].push_back(name);
        }
    }
    return place->second;
}

std::vector<Symbol> passed_names(Context& c, const Expr* expr) {
    std::vector<Symbol> names;
    if (c.at.body != nullptr) {
        AliasClasses classes;
        AliasCollector(c, classes, *c.at.body).passed(expr, names);
    }
    return names;
}

}  // namespace sardonyx::elaborate
