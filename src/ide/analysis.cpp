#include "ide/analysis.h"

#include <algorithm>

#include "diagnostics/applicability.h"
#include "diagnostics/order.h"
#include "ide/cursor.h"

namespace sardonyx::ide {
namespace {

driver::CheckRequest request_of(const Texts& texts, const std::string& path,
                                const Settings& settings) {
    driver::CheckRequest request;
    request.schemas = settings.schemas;
    request.select = settings.select;
    request.ignore = settings.ignore;
    request.opset = settings.opset;
    request.library_path = settings.library_path;
    request.wants_types = true;
    for (const auto& [name, text] : texts) {
        (name == path ? request.files : request.at_hand).push_back({name, true, text});
    }
    return request;
}

Level level_of(diagnostics::Severity severity) {
    switch (severity) {
        case diagnostics::Severity::kError:
            return Level::kError;
        case diagnostics::Severity::kWarning:
            return Level::kWarning;
        case diagnostics::Severity::kNote:
            break;
    }
    return Level::kNote;
}

// The edits of a finding, where all of them are in this file.
std::vector<Change> changes_of(const diagnostics::Diagnostic& one, diagnostics::FileId file) {
    std::vector<Change> changes;
    for (const diagnostics::Edit& edit : one.edits) {
        if (edit.span.file != file) {
            return {};
        }
        changes.push_back({{edit.span.begin, edit.span.end}, edit.replacement});
    }
    return changes;
}

Finding finding_of(const diagnostics::Sources& sources, const diagnostics::Diagnostic& one) {
    diagnostics::Span place = one.labels[0].span;
    Finding finding;
    finding.range = {place.begin, place.end};
    finding.level = level_of(one.kind->severity);
    finding.code = one.kind->code;
    finding.message = one.message;
    for (const std::string& note : one.notes) {
        finding.message += "\nnote: " + note;
    }
    if (!one.help.empty()) {
        finding.message += "\nhelp: " + one.help;
    }
    for (const diagnostics::Label& label : one.labels) {
        if (label.span.valid() && !label.message.empty()) {
            finding.related.push_back({std::string(sources.path(label.span.file)),
                                       {label.span.begin, label.span.end},
                                       label.message});
        }
    }
    diagnostics::Applicability use = diagnostics::applicability_of(one);
    if (use != diagnostics::Applicability::kDisplay) {
        finding.changes = changes_of(one, place.file);
        finding.repair = finding.changes.empty() ? std::string() : one.help;
        finding.is_safe = use == diagnostics::Applicability::kSafe;
    }
    return finding;
}

// Other files are for the editor's server of Python.
bool may_hold_scripts(std::string_view text) {
    return text.find("script") != std::string_view::npos ||
           text.find("sardonyx") != std::string_view::npos;
}

}  // namespace

Analysis::Analysis(const Texts& texts, const std::string& path, const Settings& settings,
                   Memory* memory) {
    auto found = texts.find(path);
    text_ = found == texts.end() ? std::string() : found->second;
    if (!may_hold_scripts(text_)) {
        return;
    }
    driver::CheckRequest request = request_of(texts, path, settings);
    request.memory = memory;
    checked_ = driver::check(request);
    module_ = checked_.modules.empty() ? nullptr : checked_.modules[0];
    if (module_ != nullptr) {
        take_findings();
        take_types();
    }
}

void Analysis::take_findings() {
    const elaborate::Program& program = *checked_.program;
    for (const diagnostics::Diagnostic* one : diagnostics::in_order(program.diagnostics)) {
        if (!one->labels.empty() && one->labels[0].span.file == module_->tree().file) {
            findings_.push_back(finding_of(program.sources, *one));
        }
    }
}

void Analysis::take_types() {
    std::vector<AssignedName> assigned = assigned_names(text_);
    for (const diagnostics::Inlay& one : diagnostics::in_order(checked_.types)) {
        if (one.span.file != module_->tree().file || one.span.end > text_.size()) {
            continue;
        }
        auto found = std::lower_bound(
            assigned.begin(), assigned.end(), one.span.begin,
            [](const AssignedName& name, uint32_t begin) { return name.begin < begin; });
        bool is_assigned = found != assigned.end() && found->begin == one.span.begin;
        types_.push_back({{one.span.begin, one.span.end},
                          one.text,
                          is_assigned,
                          is_assigned ? found->statement_end : one.span.end});
    }
}

std::optional<elaborate::OpsetObject> Analysis::opset(std::string_view name) const {
    if (module_ == nullptr || name.empty()) {
        return std::nullopt;
    }
    std::optional<elaborate::Object> object = module_->known(name);
    if (!object || !object->is(elaborate::ObjectKind::kOpset)) {
        return std::nullopt;
    }
    return object->get<elaborate::OpsetObject>();
}

const ops::Schema* Analysis::find_operator(std::string_view opset_name,
                                           std::string_view name) const {
    std::optional<elaborate::OpsetObject> found = opset(opset_name);
    return found ? ops::find_schema(schemas(), found->domain, name, found->version) : nullptr;
}

}  // namespace sardonyx::ide
