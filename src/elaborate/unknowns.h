// What the compiler does not know of a file's names, because a statement that it cannot run may
// have bound them or changed their objects. Nothing unknown keeps its old value: whoever asks for
// it gets the place of that statement and the reason.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elaborate/effects.h"
#include "elaborate/operator_binding.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

class FileModule;

// Why something is not known.
struct UnknownCause {
    diagnostics::Span place;                        // the statement
    std::string what;                               // "by `for` " or nothing
    std::vector<diagnostics::Diagnostic> findings;  // why it cannot be run
    std::vector<Object> held;                       // that what it bound may hold
};

// Of one Program.
struct Unknowns {
    Unknowns() = default;
    Unknowns(const Unknowns&) = delete;
    Unknowns& operator=(const Unknowns&) = delete;
    // Causes hold what is unknown for other causes, which may hold them in turn: lets all go.
    ~Unknowns();

    struct Entry {
        Object object;  // keeps the address alive
        std::shared_ptr<UnknownCause> cause;
    };
    // Lists, dicts, sets, arrays and instances that may have been changed.
    std::unordered_map<const void*, Entry> changed;
    // Functions that code which is not run may call from now on.
    std::vector<Object> escaped;
    std::unordered_map<const void*, Effects> calls;  // of functions, by their definitions
    // Classes, their instances, and members of enumerations (classes.h).
    std::vector<std::unique_ptr<Environment>> namespaces;
    // Arrays that share elements with another one (arrays.h), by address.
    std::unordered_map<const void*, Object> shared_arrays;
    std::vector<std::shared_ptr<UnknownCause>> causes;
    size_t failures = 0;  // statements that have not been run
    // How many names have been gone through. Past the limit nothing more is run, and all is
    // unknown.
    size_t work = 0;
    bool is_exhausted() const { return work > kMostWork; }
    static constexpr size_t kMostWork = 2'000'000;
};

inline bool is_unknown(const Object& object) {
    return object.is(ObjectKind::kUnbound) && object.get<Unbound>().cause != nullptr;
}
// Why an object, or one that it holds, is not known; null: it is known.
std::shared_ptr<UnknownCause> unknown_cause(const Program& program, const Object& object);
// Whether a finding is among those that have been said.
bool stands(const diagnostics::Diagnostics& said, const diagnostics::Diagnostic& one);
// Reports that the name is not known. `range`: where it is read.
void report_unknown(Context& c, const Object& object, std::string_view name, syntax::Range range);
Object unknown_object(std::shared_ptr<UnknownCause> cause, bool is_bound_by_it);

// Makes everything unknown that the statement may change, `effects.binds` apart.
void spoil(Program& program, FileModule& module, const Effects& effects,
           const std::shared_ptr<UnknownCause>& cause);

}  // namespace sardonyx::elaborate
