#include "ide/shared_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "driver/script_words.h"
#include "ide/meaning.h"
#include "ide/names.h"
#include "syntax/visit.h"

namespace sardonyx::ide {
namespace {

using elaborate::Object;
using elaborate::ObjectKind;
using syntax::Expr;
using syntax::Stmt;

// What a place with a word means: a name that other files may use, something else, or one of them.
struct Said {
    std::optional<SharedName> name;
    bool is_unknown = false;
};

// The places behind dots that bind a member: `self.a = b`.
std::set<const Expr*> written_members(syntax::Stmts statements) {
    std::set<const Expr*> written;
    std::function<void(const Expr*)> target = [&](const Expr* node) {
        if (node->kind == syntax::ExprKind::kAttribute) {
            written.insert(node);
        } else if (node->kind == syntax::ExprKind::kTuple ||
                   node->kind == syntax::ExprKind::kList) {
            syntax::each_child(node, target);
        }
    };
    std::function<void(const Stmt*)> statement = [&](const Stmt* node) {
        if (const auto* assign = syntax::maybe_as<syntax::AssignStmt>(node)) {
            std::for_each(assign->targets.begin(), assign->targets.end(), target);
        } else if (const Expr* one = single_target(node)) {
            target(one);
        }
        syntax::each_child(
            node, [](const Expr*) {}, statement);
    };
    std::for_each(statements.begin(), statements.end(), statement);
    return written;
}

class NameReader {
  public:
    explicit NameReader(const Analysis& analysis)
        : analysis_(analysis),
          tree_(analysis.module()->tree()),
          names_(seen_names(analysis)),
          written_(written_members(tree_.body)) {}

    std::optional<SharedName> at(uint32_t offset) {
        auto holds = [offset](Range range) { return range.begin <= offset && offset <= range.end; };
        for (const SeenName& one : names_) {
            if (holds(one.range)) {
                return of_seen(one);
            }
        }
        std::optional<SharedName> found;
        auto visit = [&](const Expr* node) {
            if (const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node)) {
                if (member->name.valid() && holds(member->name_range)) {
                    found = of_member(member).name;
                }
            } else if (const auto* call = syntax::maybe_as<syntax::CallExpr>(node)) {
                for (const syntax::Keyword& keyword : call->keywords) {
                    if (keyword.name.valid() && holds(keyword.name_range)) {
                        found = of_keyword(call, word(keyword.name)).name;
                    }
                }
            }
        };
        syntax::each_expression(tree_.body, visit);
        return found;
    }

    SharedUses uses_of(const SharedName& wanted) {
        wanted_ = &wanted;
        for (const SeenName& one : names_) {
            if (one.name == wanted.name) {
                note({of_seen(one)}, one.range, one.is_write);
            }
        }
        auto visit = [this](const Expr* node) { expression(node); };
        syntax::each_expression(tree_.body, visit);
        if (wanted.kind == NameKind::kMember) {
            patterns(tree_.body);
        }
        put_in_order(found_.uses);
        return std::move(found_);
    }

    // The class statements of the file, with what stands around them.
    std::vector<Meaning> classes() {
        std::vector<Meaning> found;
        std::set<const syntax::OpaqueStmt*> known;
        for (const SeenName& one : names_) {
            if (one.of_class != nullptr && known.insert(one.of_class).second) {
                found.push_back(class_of(one.of_class));
            }
        }
        return found;
    }

    bool is_at(const ClassPlace& of, const SharedName& name) const {
        return of.type->range.begin == name.begin && path_of(*of.tree) == name.path;
    }
    std::string_view text_of(const syntax::Tree& tree) const {
        return analysis_.sources().text(tree.file);
    }
    std::string path_of(const syntax::Tree& tree) const {
        return std::string(analysis_.sources().path(tree.file));
    }

  private:
    std::string_view word(sardonyx::Symbol name) const { return tree_.names.text(name); }

    Meaning class_of(const syntax::OpaqueStmt* type) const {
        Meaning made;
        made.kind = MeaningKind::kClass;
        made.tree = &tree_;
        made.environment = analysis_.module();
        made.type = type;
        return made;
    }

    std::optional<SharedName> of_seen(const SeenName& seen) const {
        if (seen.is_parameter) {
            return SharedName{std::string(seen.name), path_of(tree_), seen.bound.begin,
                              NameKind::kParameter};
        }
        if (seen.of_class != nullptr) {
            return member_name(class_of(seen.of_class), seen.name);
        }
        return seen.is_of_file
                   ? definition_name(meaning(analysis_, seen.name, seen.range.begin), seen.name)
                   : std::nullopt;
    }

    // Of a function or class of a file that has this name there.
    std::optional<SharedName> definition_name(const std::optional<Meaning>& found,
                                              std::string_view name) const {
        Range range;
        if (found && found->kind == MeaningKind::kFunction) {
            range = found->function->name_range;
        } else if (found && found->kind == MeaningKind::kClass) {
            range = name_range(*found->type, text_of(*found->tree));
        }
        bool is_it = range.end != 0 &&
                     text_of(*found->tree).substr(range.begin, range.end - range.begin) == name;
        return is_it ? std::optional(SharedName{std::string(name), path_of(*found->tree),
                                                range.begin, NameKind::kDefinition})
                     : std::nullopt;
    }

    // By the outermost class that has it: what overrides a member has its name.
    std::optional<SharedName> member_name(const Meaning& of, std::string_view name) const {
        std::optional<SharedName> found;
        for (const ClassPlace& one : line_of(analysis_, of)) {
            for (const Member& member : members(*one.tree, text_of(*one.tree), *one.type)) {
                if (member.binding.name == name) {
                    found = SharedName{std::string(name), path_of(*one.tree), one.type->range.begin,
                                       NameKind::kMember};
                }
            }
        }
        return found;
    }

    Said of_member(const syntax::AttributeExpr* node) const {
        std::optional<Meaning> of = meaning(analysis_, node->value);
        if (of && of->type != nullptr &&
            (of->kind == MeaningKind::kClass || of->kind == MeaningKind::kInstance)) {
            std::optional<SharedName> name = member_name(*of, word(node->name));
            bool is_found = name.has_value();
            return {std::move(name), !is_found};
        }
        if (of && of->kind == MeaningKind::kFile) {
            return {definition_name(meaning(analysis_, node), word(node->name))};
        }
        return {std::nullopt, !is_foreign(node->value)};
    }

    Said of_keyword(const syntax::CallExpr* call, std::string_view name) const {
        std::optional<Meaning> called = meaning(analysis_, call->callee);
        if (!called || called->kind == MeaningKind::kValue) {
            return {std::nullopt, !is_foreign(call->callee) || passes_on(call)};
        }
        std::optional<Meaning> function = called_function(analysis_, *called);
        if (!function) {
            return called->kind == MeaningKind::kClass ? Said{member_name(*called, name)} : Said{};
        }
        for (const syntax::Parameter& one : function->function->parameters->items) {
            if (function->tree->names.text(one.name) == name) {
                return {SharedName{std::string(name), path_of(*function->tree), one.range.begin,
                                   NameKind::kParameter}};
            }
        }
        return {};
    }

    // Whether a value is of a module that the compiler knows, an operator's result, or a tensor:
    // its members are of no class of a file.
    bool is_foreign(const Expr* node) const {
        while (true) {
            if (const auto* call = syntax::maybe_as<syntax::CallExpr>(node)) {
                node = call->callee;
            } else if (const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node)) {
                node = member->value;
            } else {
                break;
            }
        }
        const auto* name = syntax::maybe_as<syntax::NameExpr>(node);
        if (name == nullptr) {
            return node->kind == syntax::ExprKind::kString ||
                   node->kind == syntax::ExprKind::kInt || node->kind == syntax::ExprKind::kFloat;
        }
        std::optional<NameAt> at = name_at(analysis_.text(), name->range.begin);
        if (at && type_of_name(analysis_, *at) != nullptr) {
            return true;
        }
        auto seen = std::find_if(names_.begin(), names_.end(), [&](const SeenName& one) {
            return one.range.begin == name->range.begin;
        });
        std::optional<Meaning> found = meaning(analysis_, name);
        bool is_of_file = seen != names_.end() && seen->is_of_file;
        if (!found) {
            return is_of_file;  // nothing in the file binds it: it is Python's
        }
        if (found->kind != MeaningKind::kValue || !found->object) {
            return false;
        }
        constexpr ObjectKind kForeign[] = {ObjectKind::kModule,     ObjectKind::kOpset,
                                           ObjectKind::kOperator,   ObjectKind::kBuiltin,
                                           ObjectKind::kPythonType, ObjectKind::kType,
                                           ObjectKind::kDecorator,  ObjectKind::kConstant};
        return std::any_of(std::begin(kForeign), std::end(kForeign),
                           [&](ObjectKind kind) { return found->object->is(kind); });
    }

    // Whether a function that is not of the files gets one of theirs, or an instance, which may be
    // what the keywords are for: `partial(f, axis=1)`, `replace(config, width=2)`.
    bool passes_on(const syntax::CallExpr* call) const {
        const auto* op = syntax::maybe_as<syntax::AttributeExpr>(call->callee);
        const auto* base = op == nullptr ? nullptr : syntax::maybe_as<syntax::NameExpr>(op->value);
        if (base != nullptr && analysis_.opset(word(base->name))) {
            return false;
        }
        return std::any_of(call->args.begin(), call->args.end(), [&](const Expr* one) {
            std::optional<Meaning> found = meaning(analysis_, one);
            return found && found->kind != MeaningKind::kValue;
        });
    }

    // `of_kind`: whether such a place can have a name of the kind.
    void note(const Said& said, Range range, bool is_write, bool of_kind = true) {
        if (said.name && *said.name == *wanted_) {
            found_.uses.push_back({range, is_write});
        } else if (said.is_unknown && of_kind) {
            found_.unknown.push_back(range);
        }
    }

    void expression(const Expr* node) {
        if (const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node)) {
            if (member->name.valid() && word(member->name) == wanted_->name) {
                note(of_member(member), member->name_range, written_.count(member) != 0,
                     wanted_->kind == NameKind::kMember);
            }
        } else if (const auto* call = syntax::maybe_as<syntax::CallExpr>(node)) {
            keywords(call);
        } else if (const auto* text = syntax::maybe_as<syntax::StringExpr>(node)) {
            // `getattr(x, "name")`, `__slots__`; the name of a dimension says nothing of members.
            if (wanted_->kind == NameKind::kMember && text->value == wanted_->name &&
                dimensions_.count(node) == 0) {
                found_.unknown.push_back(node->range);
            }
        } else if (const auto* subscript = syntax::maybe_as<syntax::SubscriptExpr>(node)) {
            const auto* of = syntax::maybe_as<syntax::NameExpr>(subscript->value);
            std::optional<Object> object =
                of == nullptr ? std::nullopt : analysis_.module()->known(word(of->name));
            if (object && object->is(ObjectKind::kType)) {
                auto see = [this](const Expr* inner) { dimensions_.insert(inner); };
                syntax::each_expression(node, see);
            }
        }
    }

    void keywords(const syntax::CallExpr* call) {
        for (const syntax::Keyword& keyword : call->keywords) {
            if (keyword.name.valid()) {
                if (word(keyword.name) == wanted_->name) {
                    note(of_keyword(call, wanted_->name), keyword.name_range, false);
                }
            } else if (std::optional<SharedName> name = of_keyword(call, wanted_->name).name;
                       name && *name == *wanted_) {
                found_.unknown.push_back(keyword.value->range);  // `**mapping` may have it
            }
        }
    }

    // Of `case Config(width=w)`, whose keywords have no places in the tree.
    void patterns(syntax::Stmts statements) {
        std::function<void(const syntax::Pattern*)> pattern = [&](const syntax::Pattern* one) {
            for (sardonyx::Symbol name : one->keywords) {
                if (word(name) == wanted_->name) {
                    found_.unknown.push_back(one->range);
                }
            }
            std::for_each(one->items.begin(), one->items.end(), pattern);
        };
        std::function<void(const Stmt*)> statement = [&](const Stmt* node) {
            if (const auto* opaque = syntax::maybe_as<syntax::OpaqueStmt>(node)) {
                for (const syntax::Clause& clause : opaque->clauses) {
                    if (clause.pattern != nullptr) {
                        pattern(clause.pattern);
                    }
                }
            }
            syntax::each_child(
                node, [](const Expr*) {}, statement);
        };
        std::for_each(statements.begin(), statements.end(), statement);
    }

    const Analysis& analysis_;
    const syntax::Tree& tree_;
    std::vector<SeenName> names_;
    std::set<const Expr*> written_;
    std::set<const Expr*> dimensions_;  // what stands in `FLOAT[...]`
    const SharedName* wanted_ = nullptr;
    SharedUses found_;
};

// A file without scripts, of which nothing is known but its words: it names the file of the class
// or function, too.
std::optional<std::string> plain_obstacle(std::string_view text, const SharedName& name) {
    std::string_view file = name.path;
    file = file.substr(file.find_last_of('/') + 1);
    file = file.substr(0, file.find_last_of('.'));
    bool has_name = false, has_file = false;
    driver::for_each_word(text, [&](std::string_view word) {
        has_name = has_name || word == name.name;
        has_file = has_file || word == file;
    });
    return has_name && has_file
               ? std::optional(fmt::format(
                     "it uses `{}` and has `{}`, but no scripts: rename by hand", file, name.name))
               : std::nullopt;
}

// A class of the file that has the new name already, beside the member.
std::optional<std::string> member_obstacle(const Analysis& analysis, NameReader& reader,
                                           const SharedName& name, std::string_view new_name) {
    for (const Meaning& type : reader.classes()) {
        std::vector<ClassPlace> line = line_of(analysis, type);
        bool is_of_it = std::any_of(line.begin(), line.end(),
                                    [&](const ClassPlace& one) { return reader.is_at(one, name); });
        if (is_of_it && member_of(analysis, type, new_name)) {
            return fmt::format("a class with `{}` has a member `{}` already", name.name, new_name);
        }
    }
    return std::nullopt;
}

// The method of this class that has the parameter; empty: none.
std::string_view method_with(const NameReader& reader, const ClassPlace& type,
                             const SharedName& name) {
    if (reader.path_of(*type.tree) != name.path) {
        return {};
    }
    for (const Member& one : members(*type.tree, reader.text_of(*type.tree), *type.type)) {
        const syntax::FunctionDefStmt* method = one.binding.definition.function;
        for (size_t i = 0; method != nullptr && i < method->parameters->items.size(); ++i) {
            if (method->parameters->items[i].range.begin == name.begin) {
                return one.binding.name;
            }
        }
    }
    return {};
}

// A method that overrides another one has its parameters. A constructor is called by its class.
std::optional<std::string> override_obstacle(const Analysis& analysis, const NameReader& reader,
                                             const Meaning& type, const SharedName& name) {
    std::vector<ClassPlace> line = line_of(analysis, type);
    for (const ClassPlace& one : line) {
        std::string_view method = method_with(reader, one, name);
        if (method.empty() || method == "__init__") {
            continue;
        }
        for (const ClassPlace& other : line) {
            std::vector<Member> found =
                members(*other.tree, reader.text_of(*other.tree), *other.type);
            bool has_it = other.type != one.type &&
                          std::any_of(found.begin(), found.end(), [&](const Member& member) {
                              return member.binding.name == method;
                          });
            if (has_it) {
                return fmt::format("`{}` overrides, or is overridden by, a method of another class",
                                   method);
            }
        }
    }
    return std::nullopt;
}

}  // namespace

bool operator==(const SharedName& a, const SharedName& b) {
    return a.name == b.name && a.path == b.path && a.begin == b.begin && a.kind == b.kind;
}

std::optional<SharedName> shared_name_at(const Analysis& analysis, uint32_t offset) {
    return analysis.module() == nullptr ? std::nullopt : NameReader(analysis).at(offset);
}

SharedUses uses_of(const Analysis& analysis, const SharedName& name) {
    return analysis.module() == nullptr ? SharedUses() : NameReader(analysis).uses_of(name);
}

std::optional<std::string> obstacle(const Analysis& analysis, const SharedName& name,
                                    std::string_view new_name) {
    if (analysis.module() == nullptr) {
        return plain_obstacle(analysis.text(), name);
    }
    NameReader reader(analysis);
    if (name.kind == NameKind::kMember) {
        return member_obstacle(analysis, reader, name, new_name);
    }
    if (analysis.module()->path() == name.path) {
        std::optional<NameUses> own = uses_at(analysis, name.begin);
        std::optional<std::string> found = own ? obstacle(*own, new_name) : std::nullopt;
        if (found) {
            return found;
        }
    }
    for (const Meaning& type : reader.classes()) {
        if (std::optional<std::string> found = override_obstacle(analysis, reader, type, name)) {
            return found;
        }
    }
    return std::nullopt;
}

}  // namespace sardonyx::ide
