#include "diagnostics/diagnostic.h"

#include <utility>

namespace sardonyx::diagnostics {

Diagnostic& Diagnostic::label(Span span, std::string words) {
    labels.push_back({span, std::move(words)});
    return *this;
}

Diagnostic& Diagnostic::note(std::string words) {
    notes.push_back(std::move(words));
    return *this;
}

Diagnostic& Diagnostic::with_help(std::string words) {
    help = std::move(words);
    return *this;
}

Diagnostic& Diagnostic::edit(Span span, std::string replacement) {
    edits.push_back({span, std::move(replacement)});
    return *this;
}

Diagnostic& Diagnostics::report(const Kind& kind, Span span, std::string message) {
    Diagnostic& added = items_.emplace_back();
    added.kind = &kind;
    added.message = std::move(message);
    added.labels.push_back({span, {}});
    errors_ += kind.severity == Severity::kError ? 1 : 0;
    return added;
}

void Diagnostics::add(Diagnostic diagnostic) {
    errors_ += diagnostic.kind->severity == Severity::kError ? 1 : 0;
    items_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Checkpoint::findings() const {
    const std::deque<Diagnostic>& items = findings_->items_;
    return {items.begin() + static_cast<std::ptrdiff_t>(size_), items.end()};
}

void Checkpoint::label_callers(Span span, std::string_view words) {
    for (size_t i = size_; i < findings_->items_.size(); ++i) {
        Diagnostic& one = findings_->items_[i];
        bool is_elsewhere = one.labels.front().span.file != span.file;
        if (one.is_for_callers || (is_elsewhere && one.kind->severity == Severity::kError)) {
            one.label(span, std::string(words));
        }
    }
}

}  // namespace sardonyx::diagnostics
