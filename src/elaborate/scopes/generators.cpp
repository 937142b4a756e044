// Generators that are functions with `yield`, and what must not be seen of when they run.
#include "elaborate/scopes/generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "elaborate/flow/bindings.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// The objects that can be changed and that some objects hold, themselves among them.
class Reached {
  public:
    void add(const Object& start) {
        waiting_.push_back(start);
        while (!waiting_.empty()) {
            Object one = std::move(waiting_.back());
            waiting_.pop_back();
            see(one);
        }
    }
    void add(const Scope& scope) {
        for (const Scope* one = &scope; one != nullptr; one = one->enclosing.get()) {
            if (scopes_.insert(one).second) {
                for (const auto& [name, value] : one->values()) {
                    add(value);
                }
            }
        }
    }
    bool has(const Object& object) const { return found_.count(object) != 0; }
    Object all() const { return Object::tuple({found_.begin(), found_.end()}); }

  private:
    void see(const Object& object) {
        Namespace* instance = as_namespace(object);
        bool is_open = object.is(ObjectKind::kList) || object.is(ObjectKind::kDict) ||
                       object.is(ObjectKind::kSet) || object.is(ObjectKind::kConstant) ||
                       instance != nullptr;
        bool has_parts = object.is_sequence() || object.is(ObjectKind::kDict) ||
                         object.is(ObjectKind::kMethod) || object.is(ObjectKind::kPartial);
        if ((!is_open && !has_parts && !object.is(ObjectKind::kClosure) &&
             !object.is(ObjectKind::kIterator)) ||
            !seen_.insert(object).second) {
            return;
        }
        if (is_open) {
            found_.insert(object);
        }
        if (object.is(ObjectKind::kClosure)) {
            const Closure& closure = object.get<Closure>();
            waiting_.insert(waiting_.end(), closure.defaults.begin(), closure.defaults.end());
            for (const Scope* one = closure.scope.get(); one != nullptr;
                 one = one->enclosing.get()) {
                if (scopes_.insert(one).second) {
                    for (const auto& [name, value] : one->values()) {
                        waiting_.push_back(value);
                    }
                }
            }
        } else if (object.is(ObjectKind::kIterator)) {
            waiting_.push_back(object.get<IteratorObject>().sources);
        } else if (instance != nullptr) {
            for (const auto& [name, value] : instance->own_values()) {
                waiting_.push_back(value);
            }
            if (instance->of != nullptr) {
                waiting_.push_back(const_cast<Namespace*>(instance->of)->object());
            }
        } else {
            each_part(object, [this](const Object& part) { waiting_.push_back(part); });
        }
    }

    std::vector<Object> waiting_;
    ObjectSet seen_, found_;
    std::set<const Scope*> scopes_;
};

// What a name outside of the generator is bound to.
struct Outer {
    std::shared_ptr<Scope> scope;  // null: of the file
    Symbol name;
    Object value;
};

bool is_one_value(const Object& a, const Object& b) {
    return a.kind() == b.kind() && a.pointer() == b.pointer() && identical(a, b);
}

// The names outside that the body reads, and those that functions read which it may call.
void add_outer_names(Context& c, const std::shared_ptr<Scope>& scope, const BlockReads& reads,
                     const SymbolSet& own, std::vector<Outer>& found, std::set<const void*>& seen) {
    for (const auto& [name, places] : reads.names) {
        if (own.contains(name)) {
            continue;
        }
        std::shared_ptr<Scope> place = scope;
        while (place != nullptr && place->find(name) == nullptr) {
            place = place->enclosing;
        }
        std::optional<Object> value =
            place != nullptr ? std::optional(*place->find(name))
            : c.runs_file && scope != nullptr && scope->function->environment != nullptr
                ? scope->function->environment->lookup(scope->function->tree->names.text(name))
                : std::nullopt;
        bool is_of_library = value && (value->is(ObjectKind::kBuiltin) || value->is_error() ||
                                       value->is(ObjectKind::kPythonType));
        if (!value || is_of_library) {
            continue;
        }
        found.push_back({place, name, *value});
        if (value->is(ObjectKind::kClosure)) {
            const Closure& closure = value->get<Closure>();
            const void* key = closure.definition != nullptr
                                  ? static_cast<const void*>(closure.definition)
                                  : static_cast<const void*>(closure.lambda);
            const syntax::Tree& tree = *closure.scope->function->tree;
            if (!seen.insert(key).second) {
                continue;
            }
            if (closure.definition != nullptr) {
                const syntax::FunctionDefStmt& one = *closure.definition;
                add_outer_names(c, closure.scope, block_reads(c, tree.names, one.body),
                                own_names<binds::kOwn>(tree, *one.parameters, one.body), found,
                                seen);
            } else {
                add_outer_names(c, closure.scope, lambda_reads(c, tree.names, closure.lambda),
                                own_names<binds::kOwn>(tree, *closure.lambda->parameters, {}),
                                found, seen);
            }
        }
    }
}

bool are_bound_alike(const ScriptFunction& function, const std::vector<Outer>& names) {
    return std::all_of(names.begin(), names.end(), [&](const Outer& one) {
        if (one.scope != nullptr) {
            const Object* now = one.scope->find(one.name);
            return now != nullptr && is_one_value(*now, one.value);
        }
        std::optional<Object> now =
            function.environment->lookup(function.tree->names.text(one.name));
        return now && is_one_value(*now, one.value);
    });
}

// Whether the run of a generator has changed what was there before it. The changes are those of the
// log from `first` on.
bool changes_others(Context& c, const std::vector<Object>& arguments, const Scope& scope,
                    size_t first) {
    auto is_change = [](const Change& one) { return !one.object.is(ObjectKind::kIterator); };
    auto begin = c.changes.begin() + static_cast<std::ptrdiff_t>(std::min(first, c.changes.size()));
    if (std::none_of(begin, c.changes.end(), is_change)) {
        return false;
    }
    Reached older;
    older.add(Object::tuple(arguments));
    if (scope.enclosing != nullptr) {
        older.add(*scope.enclosing);
    }
    Environment* environment = scope.function->environment;
    if (c.runs_file && environment != nullptr) {
        for (const std::string& name : environment->names()) {
            if (std::optional<Object> value = environment->lookup(name)) {
                older.add(*value);
            }
        }
    }
    return std::any_of(begin, c.changes.end(), [&](const Change& one) {
        bool is_known = one.object.pointer() != nullptr && !one.object.is(ObjectKind::kOpaque);
        return is_change(one) && (!is_known || older.has(one.object));
    });
}

// Whether it has changed what it had given before.
bool changes_items(Context& c, const Yields& yields) {
    Reached given;
    size_t next = 0;
    for (size_t i = yields.changes.empty() ? c.changes.size() : yields.changes[0];
         i < c.changes.size(); ++i) {
        for (; next < yields.items.size() && yields.changes[next] <= i; ++next) {
            given.add(yields.items[next]);
        }
        if (given.has(c.changes[i].object)) {
            return true;
        }
    }
    return false;
}

std::vector<Object> refused(Context& c, const Object& iterator, std::string_view what,
                            std::string help) {
    c.program.diagnostics
        .report(kUnsupportedOperand, iterator.get<IteratorObject>().where,
                fmt::format("a generator that {}", what))
        .with_help(std::move(help));
    c.raising.type = {};  // nothing catches it
    return {};
}

}  // namespace

Object make_generator(Context& c, const std::shared_ptr<Scope>& scope, const syntax::Stmts& body,
                      Range range,
                      std::function<void(Context&, const std::shared_ptr<Yields>&)> run) {
    std::vector<Object> arguments;
    for (const auto& [name, value] : scope->values()) {
        arguments.push_back(value);
    }
    IteratorObject generator{"a generator", {}, Object::tuple(arguments), c.span(range)};
    generator.is_current = [](Context&) { return true; };
    auto self = std::make_shared<std::weak_ptr<void>>();
    std::vector<std::pair<Symbol, Object>> names;
    for (const auto& [name, value] : scope->values()) {
        names.emplace_back(name, value);
    }
    generator.first = [scope, &body, arguments, names, run = std::move(run), self](
                          Context& user, size_t most) -> std::optional<std::vector<Object>> {
        for (const auto& [name, value] : names) {  // it may have run before
            scope->set(name, value);
        }
        Object iterator = Object::from_pointer(ObjectKind::kIterator, self->lock());
        auto kept = std::make_shared<Yields>();
        Yields& yields = *kept;
        yields.graph = user.graph;
        yields.iterator = iterator;
        yields.most = most;
        std::vector<Outer> outer;
        std::set<const void*> seen;
        const syntax::Tree& tree = *scope->function->tree;
        add_outer_names(user, scope->enclosing, block_reads(user, tree.names, body),
                        own_names<binds::kOwn>(tree, *scope->parameters, body), outer, seen);
        size_t first = user.changes.size();
        diagnostics::Checkpoint before(user.program.diagnostics);
        run(user, kept);
        if (yields.items.size() >= yields.most) {
            user.gave_up = false;  // add_yield() has stopped it
        }
        if (before.has_errors() || user.gave_up) {
            user.raising.type = {};  // its user would have had items before that
            return std::vector<Object>();
        }
        if (changes_others(user, arguments, *scope, first)) {
            return refused(user, iterator, "changes what is outside of it",
                           "return a list of its items: when they are made is seen outside");
        }
        if (changes_items(user, yields)) {
            return refused(user, iterator, "changes a list, dict or instance that it has given",
                           "give a copy of it: `yield list(xs)`");
        }
        Reached read;
        read.add(Object::tuple(arguments));
        read.add(Object::tuple(yields.items));
        read.add(*scope);
        iterator.get<IteratorObject>().sources = read.all();
        iterator.get<IteratorObject>().is_current = [outer, function = scope->function](Context&) {
            return are_bound_alike(*function, outer);
        };
        return yields.items;
    };
    generator.items = [first = generator.first](Context& user) { return first(user, SIZE_MAX); };
    Object made = make_iterator(c, std::move(generator));
    *self = made.pointer();
    return made;
}

namespace {

constexpr size_t kMostYields = 100'000;

}  // namespace

bool add_yield(Context& c, const Object& item, Range range) {
    const std::shared_ptr<Yields>& kept = c.at.yields;
    Yields& yields = *kept;
    if (c.graph != yields.graph) {
        c.report(kUnsupportedExpression, range, "a `yield` in a loop or branch of the graph")
            .with_help("append to a list, and return it");
        return false;
    }
    log_change(c, yields.iterator, [kept, size = yields.items.size()](const Object&) {
        kept->items.resize(size);
        kept->changes.resize(size);
    });
    yields.items.push_back(item);
    yields.changes.push_back(c.changes.size());
    if (yields.items.size() >= yields.most) {
        c.gave_up = true;  // nothing of it runs from here on
        return false;
    }
    if (yields.items.size() > kMostYields) {
        c.report(kLimitExceeded, range,
                 fmt::format("a generator that gives more than {} items", kMostYields))
            .with_help("take some of them, as in `itertools.islice(xs, n)`, or end it");
        c.gave_up = true;
        return false;
    }
    return true;
}

bool is_in_generator(const Context& c) {
    for (const Context::Activation* at = &c.at; at != nullptr; at = at->caller) {
        if (at->yields != nullptr) {
            return true;
        }
    }
    return false;
}

namespace {

bool is_outdated(Context& c, const Object& iterator) {
    if (!iterator.is(ObjectKind::kIterator)) {
        return false;
    }
    const IteratorObject& one = iterator.get<IteratorObject>();
    if (one.is_current != nullptr) {
        return !one.is_current(c);
    }
    return one.sources.is(ObjectKind::kTuple) &&
           std::any_of(one.sources.items().begin(), one.sources.items().end(),
                       [&c](const Object& source) { return is_outdated(c, source); });
}

}  // namespace

bool refuse_outdated(Context& c, const Object& iterator, Range range) {
    if (!is_outdated(c, iterator)) {
        return false;
    }
    c.report(kUnsupportedOperand, range,
             "a name that a generator reads is bound again while its items are iterated over")
        .with_help("give the value to the generator as an argument, or make a list of its items");
    return true;
}

bool is_of_generator(const Object& iterator) {
    if (!iterator.is(ObjectKind::kIterator)) {
        return false;
    }
    const IteratorObject& one = iterator.get<IteratorObject>();
    return one.is_current != nullptr ||
           (one.sources.is(ObjectKind::kTuple) &&
            std::any_of(one.sources.items().begin(), one.sources.items().end(), is_of_generator));
}

}  // namespace sardonyx::elaborate
