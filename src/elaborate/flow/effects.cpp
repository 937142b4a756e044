#include "elaborate/flow/effects.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "elaborate/flow/bindings.h"
#include "elaborate/flow/effect_tables.h"
#include "elaborate/objects/context.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

namespace {

uint8_t deeper(uint8_t depth) {
    constexpr uint8_t kMost = 8;
    return depth < kMost ? static_cast<uint8_t>(depth + 1) : depth;
}

// Where the value of an expression goes.
struct Way {
    Flow flow = Flow::kRead;
    uint8_t depth = 0;
    bool is_view = false;

    Way items() const { return {flow, deeper(depth), is_view || depth == 0}; }
    // A new object that may have items of the old.
    Way copied() const { return {flow, deeper(depth), is_view && depth > 0}; }
    Way inside() const {
        return {flow, depth > 0 ? static_cast<uint8_t>(depth - 1) : depth, is_view};
    }
};

constexpr Way kRead{};

constexpr Way kChanged{Flow::kChanged, 0, false};

class Collector {
  public:
    Collector(const syntax::Tree& tree, const NameMeaning& meaning)
        : tree_(tree), meaning_(meaning) {}

    // kInner: in a block or function, where a name may mean what another one means.
    enum class Depth : uint8_t { kOuter, kInner };

    Effects found;

    void block(Stmts statements) {
        for (const Stmt* one : statements) {
            stmt(one, Depth::kInner);
        }
    }

    void stmt(const Stmt* statement, Depth depth);

    void function(const syntax::Parameters* parameters, Stmts body, const Expr* value);

    void expr(const Expr* node, Way way);

  private:
    std::string_view text(Symbol name) const { return tree_.names.text(name); }

    bool is_local(Symbol name) const {
        return std::any_of(locals_.begin(), locals_.end(),
                           [name](const SymbolSet* one) { return one->contains(name); });
    }
    std::optional<Object> meaning(Symbol name) const {
        return is_local(name) ? std::nullopt : meaning_(name);
    }

    void touch(Touch one) {
        if (has_word(kReflectingNames, text(one.name)) ||
            (one.member.valid() && has_word(kReflectingMembers, text(one.member)))) {
            found.may_do_anything = true;
        }
        if (is_local(one.name)) {
            found.changes_locals = found.changes_locals || one.flow == Flow::kChanged;
            return;
        }
        found.touches.push_back(one);
    }

    void bind(Symbol name) {
        if (locals_.empty()) {
            found.binds.push_back(name);
        } else if (!is_local(name)) {
            found.outer_binds.push_back(name);  // `global` or `nonlocal`
        }
    }

    void target(const Expr* node);
    void call(const syntax::CallExpr* node, Way way);
    void comprehension(const syntax::ComprehensionExpr* node, Way way);
    void opaque(const syntax::OpaqueStmt* statement);
    void heads(const syntax::OpaqueStmt* statement);
    void definition(const syntax::FunctionDefStmt* statement, Depth depth);
    // What a called function does with its arguments.
    Way argument_way(const syntax::CallExpr* node, Way way) const;

    const syntax::Tree& tree_;
    const NameMeaning& meaning_;
    std::vector<const SymbolSet*> locals_;  // of the functions around, innermost last
};

void Collector::function(const syntax::Parameters* parameters, Stmts body, const Expr* value) {
    SymbolSet own = own_names<binds::kOwn | binds::kMaybe>(tree_, *parameters, body);
    if (value != nullptr) {
        auto see = [&own](const Bound& one) { own.insert(one.name); };
        each_named(value, see);
    }
    locals_.push_back(&own);
    block(body);
    if (value != nullptr) {
        expr(value, kChanged);
    }
    locals_.pop_back();
}

void Collector::target(const Expr* node) {
    switch (node->kind) {
        case ExprKind::kName:
            break;
        case ExprKind::kTuple:
        case ExprKind::kList:
            for (const Expr* item : static_cast<const syntax::SequenceExpr*>(node)->items) {
                target(item);
            }
            break;
        case ExprKind::kStarred:
            target(static_cast<const syntax::PrefixExpr*>(node)->operand);
            break;
        case ExprKind::kSubscript:
            expr(syntax::as<syntax::SubscriptExpr>(node)->value, {Flow::kChanged, 0, true});
            expr(syntax::as<syntax::SubscriptExpr>(node)->index, kRead);
            break;
        case ExprKind::kAttribute: {
            const auto* member = syntax::as<syntax::AttributeExpr>(node);
            if (const auto* name = syntax::maybe_as<syntax::NameExpr>(member->value)) {
                Touch one{name->name, member->name, Flow::kChanged};
                one.is_stored = true;
                touch(one);
            } else {
                expr(member->value, {Flow::kChanged, 0, true});
            }
            break;
        }
        default:
            expr(node, kChanged);
            break;
    }
}

void Collector::definition(const syntax::FunctionDefStmt* statement, Depth depth) {
    for (const Expr* decorator : statement->decorators) {
        expr(decorator, kRead);
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(decorator)) {
            Touch one{name->name, {}};
            one.is_called = true;
            touch(one);
        }
    }
    for (const syntax::Parameter& parameter : statement->parameters->items) {
        if (parameter.default_value != nullptr) {
            expr(parameter.default_value, kChanged);
        }
        if (parameter.annotation != nullptr) {
            expr(parameter.annotation, kRead);
        }
    }
    if (depth == Depth::kInner) {  // it may be called there
        function(statement->parameters, statement->body, nullptr);
    }
}

// The heads of match and with: what they bind may hold what they are given.
void Collector::heads(const syntax::OpaqueStmt* statement) {
    auto key = [this](const Expr* value) { expr(value, kRead); };
    if (statement->subject != nullptr) {
        expr(statement->subject, {Flow::kChanged, 0, true});
    }
    for (const syntax::Clause& clause : statement->clauses) {
        syntax::each_pattern_child(clause.pattern, key);
        if (clause.test != nullptr) {
            expr(clause.test, kRead);
        }
    }
    for (const syntax::WithItem& item : statement->items) {
        expr(item.context, kChanged);
        if (item.target != nullptr) {
            target(item.target);
        }
    }
    block(statement->body);
}

// The heads of class, try and those that are not understood are names only: all of them may be
// bound and changed.
void Collector::opaque(const syntax::OpaqueStmt* statement) {
    if (statement->subject != nullptr || !statement->items.empty()) {
        heads(statement);
        return;
    }
    bool is_class = statement->keyword == "class";
    for (const Expr* decorator : statement->decorators) {
        expr(decorator, kChanged);
    }
    for (size_t i = 0; i < statement->head_names.size(); ++i) {
        if (!is_class || i > 0) {
            Touch one{statement->head_names[i], {}, Flow::kChanged, 0, true, true};
            touch(one);
        }
    }
    // The names that the body of a class binds are the class's, but before that it reads those
    // around: `d |= other` changes the dict of the file.
    std::vector<Symbol> binds = found.binds;
    block(statement->body);
    bool has_global = std::any_of(statement->body.begin(), statement->body.end(),
                                  [](const Stmt* one) { return one->kind == StmtKind::kGlobal; });
    if (is_class && !has_global) {
        found.binds = std::move(binds);
    }
}

void Collector::stmt(const Stmt* statement, Depth depth) {
    auto see = [this](const Bound& one) { bind(one.name); };
    each_own_binding<(binds::kOwn & ~binds::kDeclared) | binds::kMaybe>(&tree_.names, statement,
                                                                        see);
    Way bound{depth == Depth::kInner ? Flow::kChanged : Flow::kHeld, 0, false};
    switch (statement->kind) {
        case StmtKind::kExpr:
            expr(syntax::as<syntax::ExprStmt>(statement)->value, kRead);
            break;
        case StmtKind::kAssign: {
            const auto* node = syntax::as<syntax::AssignStmt>(statement);
            for (const Expr* one : node->targets) {
                if (one->kind == ExprKind::kSubscript || one->kind == ExprKind::kAttribute) {
                    bound = kChanged;
                }
                target(one);
            }
            expr(node->value, bound);
            break;
        }
        case StmtKind::kAugAssign: {
            const auto* node = syntax::as<syntax::AugAssignStmt>(statement);
            target(node->target);
            expr(node->target, {Flow::kChanged, 0, true});
            expr(node->value, {Flow::kChanged, 1, false});
            break;
        }
        case StmtKind::kAnnAssign: {
            const auto* node = syntax::as<syntax::AnnAssignStmt>(statement);
            expr(node->annotation, kRead);
            if (node->value != nullptr) {
                target(node->target);
                expr(node->value, node->target->kind == ExprKind::kName ? bound : kChanged);
            }
            break;
        }
        case StmtKind::kReturn:
            if (syntax::as<syntax::ReturnStmt>(statement)->value != nullptr) {
                expr(syntax::as<syntax::ReturnStmt>(statement)->value, kChanged);
            }
            break;
        case StmtKind::kDelete:
            for (const Expr* one : syntax::as<syntax::DeleteStmt>(statement)->targets) {
                target(one);
            }
            break;
        case StmtKind::kFor: {
            const auto* node = syntax::as<syntax::ForStmt>(statement);
            expr(node->iterable, {Flow::kChanged, 1, true});
            target(node->target);
            block(node->body);
            block(node->orelse);
            break;
        }
        case StmtKind::kFunctionDef:
            definition(syntax::as<syntax::FunctionDefStmt>(statement), depth);
            break;
        case StmtKind::kImport:
        case StmtKind::kImportFrom: {
            auto names = statement->kind == StmtKind::kImport
                             ? syntax::as<syntax::ImportStmt>(statement)->names
                             : syntax::as<syntax::ImportFromStmt>(statement)->names;
            for (const syntax::Alias& alias : names) {
                found.may_do_anything = found.may_do_anything || text(alias.name) == "*";
            }
            break;
        }
        case StmtKind::kTypeAlias:
            target(syntax::as<syntax::TypeAliasStmt>(statement)->name);
            break;
        case StmtKind::kOpaque:
            opaque(syntax::as<syntax::OpaqueStmt>(statement));
            break;
        case StmtKind::kGlobal:
        case StmtKind::kNonlocal:
            break;
        default:
            syntax::each_child(
                statement, [this](const Expr* child) { expr(child, kRead); },
                [this](const Stmt* child) { stmt(child, Depth::kInner); });
            break;
    }
}

Way Collector::argument_way(const syntax::CallExpr* node, Way way) const {
    const Expr* root = node->callee;
    std::string_view member;
    while (const auto* attribute = syntax::maybe_as<syntax::AttributeExpr>(root)) {
        member = member.empty() ? text(attribute->name) : member;
        root = attribute->value;
    }
    const auto* name = syntax::maybe_as<syntax::NameExpr>(root);
    if (name == nullptr || is_local(name->name)) {
        return kChanged;
    }
    std::optional<Object> object = meaning_(name->name);
    if (object) {
        bool has_out = std::any_of(
            node->keywords.begin(), node->keywords.end(),
            [this](const syntax::Keyword& keyword) { return text(keyword.name) == "out"; });
        return changes_nothing(*object, member) && !has_out ? Way{way.flow, 0, true} : kChanged;
    }
    if (member.empty() && has_word(kReaders, text(name->name))) {
        return kRead;
    }
    return member.empty() && has_word(kItemKeepers, text(name->name)) ? way.items() : kChanged;
}

void Collector::call(const syntax::CallExpr* node, Way way) {
    const Expr* callee = node->callee;
    if (const auto* name = syntax::maybe_as<syntax::NameExpr>(callee)) {
        Touch one{name->name, {}};
        one.is_called = true;
        touch(one);
    } else if (const auto* attribute = syntax::maybe_as<syntax::AttributeExpr>(callee)) {
        // A method may change its object, and give parts of it.
        if (const auto* base = syntax::maybe_as<syntax::NameExpr>(attribute->value)) {
            Touch one{base->name, attribute->name, Flow::kChanged, 0, true, true};
            if (is_local(base->name) && is_reading_method(text(attribute->name))) {
                one.flow = way.flow;
            }
            touch(one);
        } else {
            expr(attribute->value, {Flow::kChanged, 0, true});
        }
    } else {
        expr(callee, kChanged);
    }
    Way given = argument_way(node, way);
    for (const Expr* argument : node->args) {
        expr(argument, given);
    }
    for (const syntax::Keyword& keyword : node->keywords) {
        expr(keyword.value, given);
    }
}

void Collector::comprehension(const syntax::ComprehensionExpr* node, Way way) {
    SymbolSet own;
    auto see = [&own](const Bound& one) { own.insert(one.name); };
    for (const syntax::ComprehensionFor& clause : node->clauses) {
        each_target(clause.target, binds::kTarget, see);
    }
    // What may happen to the items depends on the clauses and on the element.
    bool before = std::exchange(found.changes_locals, false);
    locals_.push_back(&own);
    for (const syntax::ComprehensionFor& clause : node->clauses) {
        for (const Expr* condition : clause.conditions) {
            expr(condition, kRead);
        }
    }
    expr(node->element, way.inside());
    if (node->value != nullptr) {
        expr(node->value, way.inside());
    }
    bool changes = std::exchange(found.changes_locals, before);
    for (const syntax::ComprehensionFor& clause : node->clauses) {
        Way items{changes ? Flow::kChanged : way.flow, 1, true};
        bool is_first = &clause == &node->clauses.front();
        if (is_first) {
            locals_.pop_back();
        }
        expr(clause.iterable, items);
        if (is_first) {
            locals_.push_back(&own);
        }
    }
    locals_.pop_back();
}

void Collector::expr(const Expr* node, Way way) {
    switch (node->kind) {
        case ExprKind::kName:
            touch({syntax::as<syntax::NameExpr>(node)->name, {}, way.flow, way.depth, way.is_view});
            return;
        case ExprKind::kAttribute: {
            const auto* member = syntax::as<syntax::AttributeExpr>(node);
            if (const auto* base = syntax::maybe_as<syntax::NameExpr>(member->value)) {
                touch({base->name, member->name, way.flow, way.depth, way.is_view});
            } else {
                expr(member->value, way.items());
            }
            return;
        }
        case ExprKind::kSubscript:
            expr(syntax::as<syntax::SubscriptExpr>(node)->value, way.items());
            expr(syntax::as<syntax::SubscriptExpr>(node)->index, kRead);
            return;
        case ExprKind::kCall:
            call(syntax::as<syntax::CallExpr>(node), way);
            return;
        case ExprKind::kBinary: {
            const auto* sum = syntax::as<syntax::BinaryExpr>(node);
            for (; true; sum = syntax::as<syntax::BinaryExpr>(sum->left)) {
                expr(sum->right, way.copied());
                if (sum->left->kind != ExprKind::kBinary) {
                    break;
                }
            }
            expr(sum->left, way.copied());
            return;
        }
        case ExprKind::kBoolOp:
            for (const Expr* operand : syntax::as<syntax::BoolOpExpr>(node)->operands) {
                expr(operand, way);
            }
            return;
        case ExprKind::kIfExp: {
            const auto* choice = syntax::as<syntax::IfExpExpr>(node);
            expr(choice->condition, kRead);
            expr(choice->body, way);
            expr(choice->orelse, way);
            return;
        }
        case ExprKind::kTuple:
        case ExprKind::kList:
        case ExprKind::kSet:
            for (const Expr* item : static_cast<const syntax::SequenceExpr*>(node)->items) {
                expr(item, way.inside());
            }
            return;
        case ExprKind::kDict: {
            const auto* dict = syntax::as<syntax::DictExpr>(node);
            for (size_t i = 0; i < dict->values.size(); ++i) {
                if (dict->keys[i] != nullptr) {
                    expr(dict->keys[i], way.inside());
                    expr(dict->values[i], way.inside());
                } else {
                    expr(dict->values[i], way.copied());
                }
            }
            return;
        }
        case ExprKind::kStarred:
            expr(static_cast<const syntax::PrefixExpr*>(node)->operand, way.items());
            return;
        case ExprKind::kComprehension:
            comprehension(syntax::as<syntax::ComprehensionExpr>(node), way);
            return;
        case ExprKind::kLambda: {
            const auto* lambda = syntax::as<syntax::LambdaExpr>(node);
            for (const syntax::Parameter& parameter : lambda->parameters->items) {
                if (parameter.default_value != nullptr) {
                    expr(parameter.default_value, kChanged);
                }
            }
            function(lambda->parameters, {}, lambda->body);
            return;
        }
        case ExprKind::kNamed:
            expr(syntax::as<syntax::NamedExpr>(node)->value, kChanged);
            return;
        case ExprKind::kAwait:
        case ExprKind::kYield:
        case ExprKind::kYieldFrom:
            if (static_cast<const syntax::PrefixExpr*>(node)->operand != nullptr) {
                expr(static_cast<const syntax::PrefixExpr*>(node)->operand, kChanged);
            }
            return;
        default:
            syntax::each_child(node, [this](const Expr* child) { expr(child, kRead); });
            return;
    }
}

}  // namespace

Effects effects_of(const syntax::Tree& tree, const Stmt* statement, const NameMeaning& meaning) {
    Collector collector(tree, meaning);
    collector.stmt(statement, Collector::Depth::kOuter);
    return std::move(collector.found);
}

Effects effects_of_call(const syntax::Tree& tree, const Closure& closure,
                        const NameMeaning& meaning) {
    Collector collector(tree, meaning);
    if (closure.definition != nullptr) {
        collector.function(closure.definition->parameters, closure.definition->body, nullptr);
    } else {
        collector.function(closure.lambda->parameters, {}, closure.lambda->body);
    }
    return std::move(collector.found);
}

}  // namespace sardonyx::elaborate
