// What the compiler does not know of a file's names, because a statement that it cannot run may
// have bound them or changed their objects. Nothing unknown keeps its old value: whoever asks for
// it gets the place of that statement and the reason.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

struct Effects;

// Why something is not known.
struct UnknownCause {
    diagnostics::Span place;                        // the statement
    std::string what;                               // "by `for` " or nothing
    std::vector<diagnostics::Diagnostic> findings;  // why it cannot be run
    std::vector<Object> held;                       // that what it bound may hold
    bool ends_file = false;                         // it raises an error that nobody catches
    std::shared_ptr<ScriptFunction> model_of;       // what it bound is the model of this script
};

// Of one Program.
struct Unknowns {
    Unknowns() = default;
    Unknowns(const Unknowns&) = delete;
    Unknowns& operator=(const Unknowns&) = delete;
    // Causes hold what is unknown for other causes, which may hold them in turn: lets all go.
    ~Unknowns();

    // Lists, dicts, sets, arrays and instances that may have been changed.
    ObjectMap<std::shared_ptr<UnknownCause>> changed;
    // Functions that code which is not run may call from now on.
    std::vector<Object> escaped;
    // Of calls of functions and lambdas, by their parameters (effects.h).
    std::unordered_map<const syntax::Parameters*, std::shared_ptr<const Effects>> calls;
    // Classes, their instances, and members of enumerations (namespaces.h).
    std::vector<std::unique_ptr<Environment>> namespaces;
    // Arrays that share elements with another one (arrays.h).
    ObjectSet shared_arrays;
    // Those of them whose elements may not be neighbours in memory.
    ObjectSet strided_arrays;
    // Whether an array has been made whose axes may lie in another order than the last innermost.
    bool has_other_order = false;
    std::vector<std::shared_ptr<UnknownCause>> causes;
    size_t failures = 0;  // statements that have not been run
    // How many names have been gone through. Past the limit nothing more is run, and all is
    // unknown.
    size_t work = 0;
    bool is_exhausted() const { return work > kMostWork; }
    static constexpr size_t kMostWork = 8'000'000;
};

inline bool is_unknown(const Object& object) {
    return object.is(ObjectKind::kUnbound) && object.get<Unbound>().cause != nullptr;
}

// Why an object, or one that it holds, is not known; null: it is known.
std::shared_ptr<UnknownCause> unknown_cause(const Program& program, const Object& object);

// Whether a finding is among those that have been said.
bool stands(const diagnostics::Diagnostics& said, const diagnostics::Diagnostic& one);

// Reports that the name is not known. `range`: where it is read.
[[gnu::cold]] void report_unknown(Context& c, const Object& object, std::string_view name,
                                  syntax::Range range);
// `way_out`: what can be done without Python.
[[gnu::cold]] void report_unknown(Program& program, const Object& object, std::string_view name,
                                  diagnostics::Span span, std::string_view way_out);
// What the statement of the cause may have changed, and what it binds or computes.
Object unknown_object(std::shared_ptr<UnknownCause> cause);
Object unknown_result(std::shared_ptr<UnknownCause> cause);

inline constexpr int kDeepest = 64;

// Calls `visit` for the objects directly inside.
template <typename Visit>
void each_part(const Object& object, Visit visit) {
    if (object.is_sequence() || object.is(ObjectKind::kSet)) {
        for (const Object& item : object.items()) {
            visit(item);
        }
    } else if (object.is(ObjectKind::kDict)) {
        for (const auto& [key, value] : object.get<DictObject>().items) {
            visit(key);
            visit(value);
        }
    } else if (object.is(ObjectKind::kMethod)) {
        visit(object.get<MethodObject>().self);
    } else if (object.is(ObjectKind::kPartial)) {
        const PartialObject& partial = object.get<PartialObject>();
        visit(partial.function);
        for (const Object& argument : partial.first) {
            visit(argument);
        }
        for (const auto& [name, value] : partial.keywords.items) {
            visit(value);
        }
    } else if (object.is(ObjectKind::kDecorator)) {
        for (const auto& [name, value] : object.get<DecoratorObject>().keywords) {
            visit(value);
        }
    }
}

}  // namespace sardonyx::elaborate
