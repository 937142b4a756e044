// What a statement of a file that is not run leaves unknown: what it may reach, by way of names, of
// what they hold and of the functions that it may call.

#include "elaborate/files/spoil.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elaborate/files/module.h"
#include "elaborate/flow/effect_tables.h"
#include "elaborate/flow/effects.h"
#include "elaborate/library/methods.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/unknowns.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

namespace {

class Spoiler {
  public:
    Spoiler(Program& program, std::shared_ptr<UnknownCause> cause)
        : program_(program), cause_(std::move(cause)) {}

    // Of a statement that was not run, or of a call that may come at any time.
    enum class EffectsOf : uint8_t { kStatement, kCall };
    void apply(FileModule& module, const Effects& effects, const Scope* scope, EffectsOf what) {
        program_.unknowns->work += effects.touches.size() + 1;
        if (effects.may_do_anything || program_.unknowns->is_exhausted()) {
            module.forget_all(cause_);
            return;
        }
        for (const Touch& one : effects.touches) {
            if (std::optional<Object> object = find(module, scope, one.name)) {
                touch(module, *object, one, what);
            }
        }
        for (Symbol name : effects.outer_binds) {
            forget(module, scope, name);
        }
    }

    void reach_escaped() {
        for (size_t i = 0;
             i < program_.unknowns->escaped.size() && !program_.unknowns->is_exhausted(); ++i) {
            ++program_.unknowns->work;
            reach(Object(program_.unknowns->escaped[i]), 0);
        }
    }

  private:
    static std::optional<Object> find(FileModule& module, const Scope* scope, Symbol name) {
        for (; scope != nullptr; scope = scope->enclosing.get()) {
            if (const Object* found = scope->find(name)) {
                return *found;
            }
        }
        return module.value(name);
    }

    void forget(FileModule& module, const Scope* scope, Symbol name) {
        for (; scope != nullptr; scope = scope->enclosing.get()) {
            if (scope->find(name) != nullptr) {
                const_cast<Scope*>(scope)->set(name, unknown_result(cause_));
                return;
            }
        }
        module.forget(name, unknown_result(cause_));
    }

    void touch(FileModule& module, const Object& object, const Touch& one, EffectsOf what) {
        bool is_kept = what == EffectsOf::kCall && one.flow == Flow::kHeld;
        Flow flow = is_kept ? Flow::kChanged : one.flow;
        uint8_t depth = one.depth;
        std::string_view member = module.tree().names.text(one.member);
        if (object.is(ObjectKind::kModule)) {
            if (Namespace* own = as_namespace(object)) {
                touch_namespace(object, *own, one, flow, member);
                return;
            }
            auto* other = dynamic_cast<FileModule*>(object.get<ModuleObject>().environment);
            if (other == nullptr) {
                if (one.is_stored) {  // of a library: everything may read it
                    module.forget_all(cause_);
                }
                return;
            }
            if (!one.member.valid()) {
                if (flow != Flow::kRead) {
                    other->forget_all(cause_);
                }
                return;
            }
            if (one.is_stored) {
                other->forget(member, unknown_result(cause_));
                return;
            }
            if (std::optional<Object> part = other->value(member)) {
                use(*part, flow, depth, one.is_view);
                if (one.is_called) {
                    called(*part);
                }
            }
            return;
        }
        if (one.member.valid() && one.is_called) {
            bool is_container = object.is_sequence() || object.is(ObjectKind::kDict) ||
                                object.is(ObjectKind::kSet) || object.is(ObjectKind::kString);
            depth = is_container && is_reading_method(member) ? 1 : 0;
        } else if (one.member.valid() && !one.is_stored) {
            depth = static_cast<uint8_t>(depth + 1);
        }
        use(object, flow, depth, one.is_view || one.member.valid());
        if (one.is_stored && object.is(ObjectKind::kClosure) && is_special(member)) {
            mark(object);  // `f.__defaults__ = ...`
        }
        if (one.is_stored && module.tree().names.text(one.name) == "builtins") {
            module.forget_all(cause_);
        }
        if (one.is_called) {
            called(object);
        }
    }

    // What Python itself reads: `__class__`, `__defaults__`.
    static bool is_special(std::string_view name) { return name.substr(0, 2) == "__"; }

    void touch_namespace(const Object& object, Namespace& own, const Touch& one, Flow flow,
                         std::string_view member) {
        if (!one.member.valid()) {
            use(object, flow, 0, true);
        } else if (one.is_stored && is_special(member)) {
            change_all(object, 0);
        } else if (one.is_stored) {
            own.set(member, unknown_result(cause_));
        } else if (std::optional<Object> part = own.lookup(member)) {
            use(*part, flow, one.depth, one.is_view);
            called(*part);
        }
        if (one.is_called) {
            change_all(object, 0);  // a method may change its object
        }
    }

    void use(const Object& object, Flow flow, int depth, bool is_view) {
        reach(object, 0);
        if (object.is(ObjectKind::kDict) && object.get<DictObject>().of == DictClass::kDefault) {
            mark(object);  // `d[key]` may put a value in
        }
        if (flow == Flow::kChanged) {
            change(object, depth, is_view, 0);
        } else if (flow == Flow::kHeld) {
            cause_->held.push_back(object);
        }
    }

    // The object is called: a bound method changes its object, what is unknown what it holds.
    void called(const Object& object) {
        if (object.is(ObjectKind::kMethod) || object.is(ObjectKind::kPartial) ||
            object.is(ObjectKind::kUnbound)) {
            change_all(object, 0);
        }
    }

    // Everything that may be changed in the object, or in what it is a view of, is unknown.
    void change_all(const Object& object, int level) { change(object, 0, true, level); }

    // Everything that may be changed in the object from `depth` on is unknown.
    void change(const Object& object, int depth, bool is_view, int level) {
        if (level > kDeepest) {
            return;
        }
        switch (object.kind()) {
            case ObjectKind::kConstant:
                if (depth == 0 || is_view) {
                    mark(object);
                }
                return;
            case ObjectKind::kList:
            case ObjectKind::kDict:
            case ObjectKind::kSet:
                if (depth == 0 && !mark(object)) {
                    return;
                }
                break;
            case ObjectKind::kClosure:
                if (depth == 0) {
                    escape(object);
                }
                return;
            case ObjectKind::kModule: {
                if (Namespace* own = as_namespace(object)) {
                    change_namespace(*own, level);
                    return;
                }
                auto* other = dynamic_cast<FileModule*>(object.get<ModuleObject>().environment);
                if (other != nullptr && seen_.insert(other).second) {
                    other->forget_all(cause_);
                }
                return;
            }
            case ObjectKind::kUnbound: {
                std::shared_ptr<UnknownCause> cause = object.get<Unbound>().cause;
                if (cause != nullptr && cause != cause_ && seen_.insert(cause.get()).second) {
                    for (const Object& held : std::vector<Object>(cause->held)) {
                        reach(held, 0);
                        change_all(held, level + 1);
                    }
                }
                return;
            }
            default:
                break;
        }
        each_part(object, [&](const Object& part) {
            change(part, std::max(depth - 1, 0), is_view || depth == 0, level + 1);
        });
    }

    void change_namespace(Namespace& own, int level) {
        if (own.kind == Namespace::Kind::kMember || own.unknown_all != nullptr) {
            return;
        }
        for (const std::string& name : own.names()) {
            if (std::optional<Object> part = own.lookup(name)) {
                reach(*part, 0);
                change_all(*part, level + 1);
            }
        }
        own.unknown_all = cause_;
    }

    // False: it is unknown already.
    bool mark(const Object& object) {
        Unknowns& unknowns = *program_.unknowns;
        auto add = [&](const Object& one) {
            return unknowns.changed.try_emplace(one, cause_).second;
        };
        bool is_new = add(object);
        // What shares elements with it changes too: it may be any array that has a view, or is one.
        if (is_new && unknowns.shared_arrays.count(object) != 0) {
            for (const Object& one : unknowns.shared_arrays) {
                add(one);
            }
        }
        return is_new;
    }

    void escape(const Object& object) {
        auto is_it = [&object](const Object& one) { return one.pointer() == object.pointer(); };
        std::vector<Object>& all = program_.unknowns->escaped;
        if (std::none_of(all.begin(), all.end(), is_it)) {
            all.push_back(object);
        }
        reach(object, 0);
    }

    // What calls of the functions in the object do.
    void reach(const Object& object, int level) {
        if (level > kDeepest) {
            return;
        }
        if (object.is(ObjectKind::kScript)) {
            reach_script(object.get<ScriptFunction>());
        } else if (object.is(ObjectKind::kClosure)) {
            reach_closure(object);
        } else if (Namespace* own = as_namespace(object)) {
            if (reached_.insert(own).second) {
                for (const std::string& name : own->names()) {
                    if (std::optional<Object> part = own->lookup(name)) {
                        reach(*part, level + 1);
                    }
                }
            }
        } else if (object.is(ObjectKind::kUnbound)) {
            std::shared_ptr<UnknownCause> cause = object.get<Unbound>().cause;
            if (cause != nullptr && cause != cause_ && reached_.insert(cause.get()).second) {
                for (const Object& held : std::vector<Object>(cause->held)) {
                    reach(held, level + 1);
                }
            }
        } else if (object.pointer() != nullptr &&
                   (object.is_sequence() || object.is(ObjectKind::kDict) ||
                    object.is(ObjectKind::kMethod) || object.is(ObjectKind::kPartial)) &&
                   reached_.insert(object.pointer().get()).second) {
            each_part(object, [&](const Object& part) { reach(part, level + 1); });
            if (object.tuple_class() != nullptr) {
                reach(object.tuple_class()->object(), level + 1);  // its methods
            }
        }
    }

    void reach_closure(const Object& object) {
        const Closure& closure = object.get<Closure>();
        if (!reached_.insert(object.pointer().get()).second) {
            return;
        }
        auto* module = dynamic_cast<FileModule*>(closure.scope->function->environment);
        if (module == nullptr) {
            return;
        }
        const Scope* scope = closure.scope.get();
        const syntax::Parameters* key = closure.definition != nullptr
                                            ? closure.definition->parameters
                                            : closure.lambda->parameters;
        auto [place, is_new] = program_.unknowns->calls.try_emplace(key);
        if (is_new) {
            place->second = std::make_shared<const Effects>(effects_of_call(
                module->tree(), closure, [&](Symbol name) { return find(*module, scope, name); }));
        }
        std::shared_ptr<const Effects> own = place->second;
        const Effects& effects = *own;
        apply(*module, effects, scope, EffectsOf::kCall);
        if (effects.changes_locals) {
            for (const Object& one : closure.defaults) {
                change_all(one, 0);
            }
        }
    }

    // A script changes nothing that it reads: only plain functions that it calls do.
    void reach_script(const ScriptFunction& function) {
        auto* module = dynamic_cast<FileModule*>(function.environment);
        if (module == nullptr || !reached_.insert(&function).second) {
            return;
        }
        auto visit = [&](const syntax::Expr* node) {
            const auto* call = syntax::maybe_as<syntax::CallExpr>(node);
            const auto* name =
                call != nullptr ? syntax::maybe_as<syntax::NameExpr>(call->callee) : nullptr;
            std::optional<Object> callee;
            if (name != nullptr) {
                callee = module->value(name->name);
            }
            if (callee && callee->is(ObjectKind::kScript)) {
                reach_script(callee->get<ScriptFunction>());
            } else if (callee && callee->is(ObjectKind::kClosure)) {
                reach_bindings(*module, callee->get<Closure>());
            }
        };
        syntax::each_expression(function.definition->body, visit);
    }

    // Of a plain function that a script calls: the names of the file that it binds.
    void reach_bindings(FileModule& module, const Closure& closure) {
        if (closure.definition == nullptr || !reached_.insert(closure.definition).second) {
            return;
        }
        Effects effects = effects_of_call(module.tree(), closure, [&](Symbol name) {
            return find(module, closure.scope.get(), name);
        });
        for (Symbol name : effects.outer_binds) {
            forget(module, closure.scope.get(), name);
        }
        for (const Touch& one : effects.touches) {
            if (one.is_called && one.member.valid() &&
                is_changing_method(module.tree().names.text(one.member))) {
                if (std::optional<Object> object = find(module, closure.scope.get(), one.name)) {
                    change_all(*object, 0);
                }
            }
        }
    }

    Program& program_;
    std::shared_ptr<UnknownCause> cause_;
    std::unordered_set<const void*> seen_;     // by change()
    std::unordered_set<const void*> reached_;  // by reach()
};

}  // namespace

void spoil(Program& program, FileModule& module, const Effects& effects,
           const std::shared_ptr<UnknownCause>& cause) {
    Spoiler spoiler(program, cause);
    spoiler.apply(module, effects, nullptr, Spoiler::EffectsOf::kStatement);
    spoiler.reach_escaped();
}

}  // namespace sardonyx::elaborate
