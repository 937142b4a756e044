// Whether two names may mean the same tensor. In Python x[0] = 1 changes the tensor for everyone
// who holds it; in a graph it makes a new tensor for one name. So an assignment to an item is
// reported where another name that is still read, or an item of a list, may hold the same tensor.
//
// Who holds it is known exactly, by the value, as long as no If or Loop stands between: their
// results are values of their own. There it is decided by the text: names between which a value may
// pass unchanged, by `a = b`, `xs.append(a)`, `a = b if c else d`, ..., are of one class. Names of
// other classes need not be looked at.

#include <algorithm>
#include <unordered_set>

#include "elaborate/exec.h"
#include "elaborate/library.h"

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
    AliasCollector(Context& c, AliasClasses& classes) : c_(c), classes_(classes) {}

    void block(Stmts statements) {
        for (const Stmt* statement : statements) {
            stmt(statement);
        }
    }

  private:
    void unite(const Names& names) {
        for (size_t i = 1; i < names.size(); ++i) {
            uint32_t root = classes_.find(names[0].index);
            classes_.parents[classes_.find(names[i].index)] = root;
        }
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
        passed(target, names);
        passed(value, names);
        unite(names);
    }

    void all_passed(syntax::Exprs exprs, Names& names) {
        for (const Expr* expr : exprs) {
            passed(expr, names);
        }
    }

    // Whether a function returns what it was given: lists of their arguments and functions of the
    // script may, operators and other scripts make new tensors.
    bool may_pass(const Expr* callee) {
        if (const auto* method = syntax::maybe_as<syntax::AttributeExpr>(callee)) {
            constexpr std::string_view kPassing[] = {"append", "extend", "insert", "pop",   "get",
                                                     "values", "items",  "copy",   "update"};
            return method->name.valid() && std::find(std::begin(kPassing), std::end(kPassing),
                                                     c_.text(method->name)) != std::end(kPassing);
        }
        const auto* name = syntax::maybe_as<syntax::NameExpr>(callee);
        if (name == nullptr) {
            return true;
        }
        constexpr std::string_view kFresh[] = {"range", "len",   "abs", "round",
                                               "int",   "float", "bool"};
        bool is_fresh = std::find(std::begin(kFresh), std::end(kFresh), c_.text(name->name)) !=
                        std::end(kFresh);
        if (is_fresh || c_.at.scope->find(name->name) != nullptr ||
            c_.function().environment == nullptr) {
            return !is_fresh;
        }
        std::optional<Object> global = c_.function().environment->lookup(c_.text(name->name));
        return !global || !global->is(ObjectKind::kScript);
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
            case ExprKind::kIfExp:
                passed(syntax::as<syntax::IfExpExpr>(expr)->body, names);
                passed(syntax::as<syntax::IfExpExpr>(expr)->orelse, names);
                break;
            case ExprKind::kBoolOp:
                all_passed(syntax::as<syntax::BoolOpExpr>(expr)->operands, names);
                break;
            case ExprKind::kNamed: {
                const auto* node = syntax::as<syntax::NamedExpr>(expr);
                assign(node->target, node->value);
                passed(node->target, names);
                break;
            }
            case ExprKind::kComprehension: {
                const auto* node = syntax::as<syntax::ComprehensionExpr>(expr);
                passed(node->element, names);
                passed(node->value, names);
                for (const syntax::ComprehensionFor& clause : node->clauses) {
                    passed(clause.iterable, names);
                }
                break;
            }
            case ExprKind::kBinary: {  // xs + [x]
                const auto* node = syntax::as<syntax::BinaryExpr>(expr);
                for (const Expr* operand : {node->left, node->right}) {
                    if (operand->kind != ExprKind::kBinary && holds_objects(operand)) {
                        passed(operand, names);
                    }
                }
                break;
            }
            case ExprKind::kLambda:
                passed(syntax::as<syntax::LambdaExpr>(expr)->body, names);
                break;
            case ExprKind::kCall: {
                const auto* node = syntax::as<syntax::CallExpr>(expr);
                if (may_pass(node->callee)) {
                    if (const auto* method =
                            syntax::maybe_as<syntax::AttributeExpr>(node->callee)) {
                        passed(method->value, names);
                    } else {
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

    void stmt(const Stmt* statement) {
        switch (statement->kind) {
            case StmtKind::kAssign: {
                const auto* node = syntax::as<syntax::AssignStmt>(statement);
                for (const Expr* target : node->targets) {
                    assign(target, node->value);
                }
                break;
            }
            case StmtKind::kAugAssign: {
                const auto* node = syntax::as<syntax::AugAssignStmt>(statement);
                if (holds_objects(node->target)) {  // xs += [x]
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
            case StmtKind::kExpr: {
                Names names;
                passed(syntax::as<syntax::ExprStmt>(statement)->value, names);
                unite(names);
                break;
            }
            case StmtKind::kIf: {
                const auto* node = syntax::as<syntax::IfStmt>(statement);
                block(node->body);
                block(node->orelse);
                break;
            }
            case StmtKind::kFor: {
                const auto* node = syntax::as<syntax::ForStmt>(statement);
                if (holds_objects(node->iterable)) {
                    assign(node->target, node->iterable);
                }
                block(node->body);
                block(node->orelse);
                break;
            }
            case StmtKind::kWhile: {
                const auto* node = syntax::as<syntax::WhileStmt>(statement);
                block(node->body);
                block(node->orelse);
                break;
            }
            case StmtKind::kFunctionDef: {
                const auto* node = syntax::as<syntax::FunctionDefStmt>(statement);
                Names names{node->name};
                returned(node->body, names);
                unite(names);
                block(node->body);
                break;
            }
            default:
                break;
        }
    }

    void returned(Stmts statements, Names& names) {
        for (const Stmt* statement : statements) {
            if (statement->kind == StmtKind::kReturn) {
                passed(syntax::as<syntax::ReturnStmt>(statement)->value, names);
            } else if (statement->kind == StmtKind::kIf) {
                returned(syntax::as<syntax::IfStmt>(statement)->body, names);
                returned(syntax::as<syntax::IfStmt>(statement)->orelse, names);
            }
        }
    }

    Context& c_;
    AliasClasses& classes_;
};

// A value that stands for one of several: of a branch, a loop, the input of a loop's body, or an
// item of a sequence, which is a list of Python.
bool is_merged(const ir::Value* value) {
    const ir::Node* producer = value->producer();
    if (producer != nullptr) {
        return producer->op_type == "If" || producer->op_type == "Loop" ||
               producer->op_type == "Scan" || producer->op_type == "SequenceAt";
    }
    return value->is_graph_input() && value->graph()->parent() != nullptr;
}

// Counts the places that hold a tensor: exactly, or, for names of its class, maybe.
class Holders {
  public:
    explicit Holders(const ir::Value* value) : value_(value), value_is_merged_(is_merged(value)) {}

    bool may_be(const ir::Value* other, bool same_class) const {
        return other == value_ || (same_class && (value_is_merged_ || is_merged(other)));
    }

    int count(const Object& object, bool same_class, int depth = 0) {
        if (object.is_tensor()) {
            return may_be(object.value(), same_class) ? 1 : 0;
        }
        bool is_dict = object.is(ObjectKind::kDict);
        if ((!is_dict && !object.is_sequence()) || depth > kDepth || steps_ > kSteps ||
            !seen_.insert(object.pointer().get()).second) {
            return 0;
        }
        int found = 0;
        if (is_dict) {
            for (const auto& [key, item] : object.get<DictObject>().items) {
                ++steps_;
                found += count(item, same_class, depth + 1);
            }
        } else {
            for (const Object& item : object.items()) {
                ++steps_;
                found += count(item, same_class, depth + 1);
            }
        }
        return found;
    }

  private:
    static constexpr int kDepth = 32;
    static constexpr int64_t kSteps = 1'000'000;
    const ir::Value* value_;
    bool value_is_merged_;
    int64_t steps_ = 0;
    std::unordered_set<const void*> seen_;  // a list that two names share is one place
};

AliasClasses& alias_classes(Context& c) {
    auto [place, is_new] = c.aliases.try_emplace(c.at.body->data());
    if (is_new) {
        AliasClasses& classes = place->second;
        AliasCollector(c, classes).block(*c.at.body);
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

}  // namespace

namespace {

// The first name of a scope, in the order of the text, that holds the tensor.
std::string name_of_holder(const Scope& scope, const ir::Value* value) {
    std::optional<uint32_t> first;
    for (const auto& [symbol, object] : scope.values()) {
        if ((!first || symbol < *first) && Holders(value).count(object, false) > 0) {
            first = symbol;
        }
    }
    return first ? std::string(scope.function->tree->names.text(Symbol{*first})) : std::string();
}

}  // namespace

std::optional<std::string> other_holder(Context& c, const ir::Value* value, Symbol name,
                                        bool in_list, uint32_t offset) {
    Holders holders(value);
    int places = 0;
    std::string holder;
    std::vector<uint32_t> names{name.index};
    if (c.at.body != nullptr) {
        AliasClasses& classes = alias_classes(c);
        auto members = classes.members.find(classes.find(name.index));
        names = members != classes.members.end() ? members->second : names;
    }
    for (uint32_t symbol : names) {
        bool is_own = symbol == name.index;
        const Object* object = c.at.scope->find(Symbol{symbol});
        if (object != nullptr && !(is_own && !in_list) &&
            (is_own || is_live(c, Symbol{symbol}, offset))) {
            int found = holders.count(*object, true);
            places += found;
            holder = found > 0 && (holder.empty() || !is_own) ? c.text(Symbol{symbol}) : holder;
        }
    }
    std::vector<const Scope*> others;
    const Scope* enclosing = c.at.scope->enclosing.get();
    for (; enclosing != nullptr; enclosing = enclosing->enclosing.get()) {
        others.push_back(enclosing);
    }
    const Context::Activation* caller = c.at.caller;
    for (; caller != nullptr && caller->scope != nullptr &&
           caller->scope->function == c.at.scope->function;
         caller = caller->caller) {
        others.push_back(caller->scope.get());
    }
    for (const Scope* scope : others) {
        for (const auto& [symbol, object] : scope->values()) {
            places += holders.count(object, false);
        }
    }
    if (places <= (in_list ? 1 : 0)) {
        return std::nullopt;
    }
    for (size_t i = 0; holder.empty() && i < others.size(); ++i) {
        holder = name_of_holder(*others[i], value);
    }
    return holder;
}

}  // namespace sardonyx::elaborate
