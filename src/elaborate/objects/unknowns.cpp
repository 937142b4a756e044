#include "elaborate/objects/unknowns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "elaborate/objects/context.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

namespace {

std::shared_ptr<UnknownCause> find_cause(const Unknowns& unknowns, const Object& object,
                                         int depth) {
    if (object.is(ObjectKind::kUnbound)) {
        return object.get<Unbound>().cause;
    }
    if (object.pointer() == nullptr || depth > kDeepest) {
        return nullptr;
    }
    auto found = unknowns.changed.find(object);
    if (found != unknowns.changed.end()) {
        return found->second;
    }
    std::shared_ptr<UnknownCause> cause;
    each_part(object, [&](const Object& part) {
        cause = cause != nullptr ? cause : find_cause(unknowns, part, depth + 1);
    });
    return cause;
}

Unbound unbound_by(std::shared_ptr<UnknownCause> cause) {
    Unbound unbound;
    unbound.where = cause->place;
    unbound.cause = std::move(cause);
    return unbound;
}

}  // namespace

Unknowns::~Unknowns() {
    for (const std::shared_ptr<UnknownCause>& cause : causes) {
        cause->held.clear();
    }
}

std::shared_ptr<UnknownCause> unknown_cause(const Program& program, const Object& object) {
    if (object.is(ObjectKind::kUnbound)) {
        return object.get<Unbound>().cause;
    }
    return program.unknowns->changed.empty() ? nullptr : find_cause(*program.unknowns, object, 0);
}

Object unknown_object(std::shared_ptr<UnknownCause> cause) {
    return Object::make(ObjectKind::kUnbound, unbound_by(std::move(cause)));
}

Object unknown_result(std::shared_ptr<UnknownCause> cause) {
    Unbound unbound = unbound_by(std::move(cause));
    unbound.is_computed = true;
    return Object::make(ObjectKind::kUnbound, std::move(unbound));
}

bool stands(const diagnostics::Diagnostics& said, const diagnostics::Diagnostic& one) {
    return std::any_of(said.items().begin(), said.items().end(), [&](const auto& other) {
        return other.kind == one.kind && other.labels[0].span == one.labels[0].span &&
               other.message == one.message;
    });
}

void report_unknown(Context& c, const Object& object, std::string_view name, syntax::Range range) {
    report_unknown(c.program, object, name, c.span(range), "write its value as a literal");
}

void report_unknown(Program& program, const Object& object, std::string_view name,
                    diagnostics::Span span, std::string_view way_out) {
    std::shared_ptr<UnknownCause> cause = unknown_cause(program, object);
    const diagnostics::Sources& sources = program.sources;
    std::string command =
        fmt::format("sardonyx build --python {}", sources.path(cause->place.file));
    bool is_computed = object.is(ObjectKind::kUnbound) && object.get<Unbound>().is_computed;
    // A mistake of a statement that does nothing else says more than its consequences.
    if (is_computed && cause->what.empty() && !cause->findings.empty()) {
        std::string note = fmt::format("`{}` runs the file in Python", command);
        for (diagnostics::Diagnostic finding : cause->findings) {
            if (!stands(program.diagnostics, finding)) {
                if (finding.help.find(command) == std::string::npos &&
                    std::find(finding.notes.begin(), finding.notes.end(), note) ==
                        finding.notes.end()) {
                    finding.note(note);
                }
                program.diagnostics.add(std::move(finding));
            }
        }
        return;
    }
    uint32_t line = sources.position(cause->place.file, cause->place.begin).line;
    if (cause->ends_file) {
        std::string reason =
            cause->findings.empty() ? "it raises an error" : cause->findings[0].message;
        diagnostics::Diagnostic& reported = program.diagnostics.report(
            kUnknownValue, span,
            fmt::format("`{}` is not known, because Python ends the file in line {}: {}", name,
                        line, reason));
        if (cause->place != span) {
            reported.label(cause->place, reason);
        }
        reported.with_help(fmt::format("mend line {}: importing the file fails there", line));
        return;
    }
    diagnostics::Diagnostic& reported = program.diagnostics.report(
        kUnknownValue, span,
        fmt::format("`{}` {} {}in line {}, which needs Python", name,
                    is_computed ? "is computed" : "may be changed", cause->what, line));
    std::string reason =
        cause->findings.empty() ? std::string("this is not run") : cause->findings[0].message;
    reported.label(cause->place, reason)
        .with_help(fmt::format("{}, or take it from Python: `{}`", way_out, command));
}

}  // namespace sardonyx::elaborate
