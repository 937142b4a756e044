// Which version of an operator set a unit uses: for what the text names, and for Python's
// operators.
#include "elaborate/emit/opsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "elaborate/emit/default_opset.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/objects/context.h"
#include "infer/infer.h"
#include "types/domain.h"

namespace sardonyx::elaborate {

void import_opset(Context& c, const OpsetObject& opset, syntax::Range range) {
    for (const ir::OpsetImport& import : c.unit->imports) {
        if (import.domain == opset.domain) {
            if (import.version != opset.version) {
                std::string_view domain = shown_domain(opset.domain);
                c.report(kOpsetConflict, range,
                         fmt::format("version {} of `{}` after version {} in the same {}",
                                     opset.version, domain, import.version,
                                     c.unit->is_function ? "function" : "model"))
                    .label(
                        c.unit->import_spans[static_cast<size_t>(&import - c.unit->imports.data())],
                        fmt::format("version {} is used here", import.version))
                    .with_help("use one version of a domain throughout");
            }
            return;
        }
    }
    c.unit->imports.push_back({c.model.intern(opset.domain), opset.version});
    c.unit->import_spans.push_back(c.span(range));
}

namespace {

NamedOpset opset_named_in(Context& c, const ScriptFunction& function) {
    for (const auto& [base, object] :
         outer_objects(c, function, &BlockReads::bases, ObjectKind::kOpset)) {
        if (object.get<OpsetObject>().domain.empty()) {
            return {base, object.get<OpsetObject>().version};
        }
    }
    return {};
}

// An opset of another domain says nothing of Python's operators.
int64_t default_opset_of(const ScriptFunction& function) {
    return function.default_opset.domain.empty() ? function.default_opset.version : 0;
}

// The first opset that the scripts called by a function name, or those that they call; 0: none.
int64_t opset_of_callees(Context& c, const ScriptFunction& function,
                         std::unordered_set<const ScriptFunction*>& visited) {
    constexpr size_t kMost = 1000;
    if (visited.size() >= kMost || !visited.insert(&function).second) {
        return 0;
    }
    for (const auto& [name, object] :
         outer_objects(c, function, &BlockReads::called, ObjectKind::kScript)) {
        const ScriptFunction& callee = object.get<ScriptFunction>();
        int64_t version = default_opset_of(callee);
        version = version != 0 ? version : opset_named_in(c, callee).version;
        version = version != 0 ? version : opset_of_callees(c, callee, visited);
        if (version != 0) {
            return version;
        }
    }
    return 0;
}

}  // namespace

NamedOpset named_opset(Context& c) {
    return opset_named_in(c, c.function());
}

namespace {

// The opset that callers compute with, from the nearest one on; 0: none says.
int64_t opset_of_callers(Context& c) {
    for (const Unit* unit = c.unit->caller; unit != nullptr; unit = unit->caller) {
        int64_t version = unit->python_opset.version;
        version = version != 0 ? version : ir::opset_version(unit->imports, "");
        if (version == 0 && unit->function != nullptr) {
            version = default_opset_of(*unit->function);
            version = version != 0 ? version : opset_named_in(c, *unit->function).version;
        }
        if (version != 0) {
            return version;
        }
    }
    return 0;
}

// The one version that the file of the script imports, or that of the files of its callers; 0: none
// or several.
int64_t opset_of_file(Context& c) {
    for (const Unit* unit = c.unit; unit != nullptr; unit = unit->caller) {
        if (unit->function == nullptr || unit->function->environment == nullptr) {
            continue;
        }
        std::vector<int64_t> versions = unit->function->environment->opset_versions();
        bool is_one =
            !versions.empty() && std::equal(versions.begin() + 1, versions.end(), versions.begin());
        if (is_one) {
            return versions[0];
        }
    }
    return 0;
}

// Nothing says which opset Python's operators are of.
void report_missing_opset(Context& c) {
    const ScriptFunction* function = c.unit->function;
    if (function == nullptr || c.program.diagnostics.has_errors()) {
        return;  // an expression of a file, which is no graph; or what a mistake has left
    }
    bool has_some =
        function->environment != nullptr && !function->environment->opset_versions().empty();
    c.program.diagnostics
        .report(
            kMissingOpset, function->name_span(),
            fmt::format("`{}` uses only Python operators, and {}", function->name,
                        has_some ? "its file imports several opsets" : "its file imports no opset"))
        .with_help(fmt::format("name the opset of these operators, as in "
                               "`@script(default_opset=opset{})`",
                               kDefaultOpset));
}

}  // namespace

std::string opsets_around(Context& c) {
    const Unit& unit = *c.unit;
    int64_t own = unit.python_opset.version;
    own = own != 0 ? own : ir::opset_version(unit.imports, "");
    if (own == 0 && unit.function != nullptr) {
        own = default_opset_of(*unit.function);
        own = own != 0 ? own : opset_named_in(c, *unit.function).version;
    }
    own = own != 0 ? own : opset_of_callers(c);
    return fmt::format("{} {} {}", c.options.opset, own, opset_of_file(c));
}

OpsetObject operator_opset(Context& c) {
    OpsetObject& settled = c.unit->python_opset;
    if (settled.version == 0) {
        // What runs in place may say nothing; then what it runs in does.
        const ScriptFunction& own = c.function();
        const ScriptFunction& whole = c.unit->function != nullptr ? *c.unit->function : own;
        int64_t version = c.options.opset;
        version = version != 0 ? version : default_opset_of(own);
        version = version != 0 ? version : default_opset_of(whole);
        version = version != 0 ? version : ir::opset_version(c.unit->imports, "");
        version = version != 0 ? version : opset_named_in(c, own).version;
        version = version != 0 ? version : opset_named_in(c, whole).version;
        version = version != 0 ? version : opset_of_callers(c);
        version = version != 0 ? version : opset_of_file(c);
        std::unordered_set<const ScriptFunction*> visited;
        version = version != 0 ? version : opset_of_callees(c, whole, visited);
        if (version == 0) {
            report_missing_opset(c);
        }
        settled.version = version != 0 ? version : kDefaultOpset;
    }
    return settled;
}

OpsetObject compiled_opset(Context& c, const OpsetObject& written) {
    if (!written.domain.empty()) {
        return written;
    }
    if (c.options.opset != 0) {
        return {written.domain, c.options.opset};
    }
    return c.function().takes_opset_of_caller ? operator_opset(c) : written;
}

}  // namespace sardonyx::elaborate
