// Diagnostics as data: what a phase has to say about a script or a model.
//
// Each phase lists its kinds in its own diagnostics.def, one row SDX_DIAGNOSTIC(identifier, "code",
// severity), and expands it in <phase>/diagnostics.h to `inline constexpr Kind kIdentifier`. The
// code is a kebab-case word, unique over all phases, with a page docs/diagnostics/<code>.md.
//
// Wording: lower case, no full stop, code in backticks; what was seen, then in `help` what to do.
//
// What reports is marked cold, here and in the phases: the compiler then keeps the making of
// messages away from the code of correct scripts. Half of the time of compiling one is spent on
// fetching instructions.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/source.h"

namespace sardonyx::diagnostics {

enum class Severity : uint8_t { kNote, kWarning, kError };

struct Kind {
    std::string_view code;
    Severity severity;
};

// A range with its own few words: the first label of a diagnostic is the place of the problem, the
// others are the places that it disagrees with.
struct Label {
    Span span;
    std::string message;
};

// Replace the text of `span`; an empty span inserts.
struct Edit {
    Span span;
    std::string replacement;
};

struct Diagnostic {
    const Kind* kind = nullptr;
    std::string message;
    std::vector<Label> labels;
    std::vector<std::string> notes;
    std::string help;         // empty: none
    std::vector<Edit> edits;  // what `help` says, as a change that a machine can make; may be empty
    bool is_for_callers =
        false;  // a function says it of the arguments that it has been called with

    [[gnu::cold]] Diagnostic& label(Span span, std::string words);
    [[gnu::cold]] Diagnostic& note(std::string words);
    [[gnu::cold]] Diagnostic& with_help(std::string words);
    [[gnu::cold]] Diagnostic& edit(Span span, std::string replacement);
};

// The findings of a run, in the order in which the phases came upon them.
class Diagnostics {
  public:
    // Returns the new diagnostic to add labels and help to. Later reports do not move it: to look
    // for the words of a help may find the next thing to report.
    [[gnu::cold]] Diagnostic& report(const Kind& kind, Span span, std::string message);

    // One that has been said before, and taken back.
    [[gnu::cold]] void add(Diagnostic diagnostic);

    bool has_errors() const { return errors_ != 0; }
    size_t error_count() const { return errors_; }
    const std::deque<Diagnostic>& items() const { return items_; }

    void clear() { truncate(0); }

    // Forgets those for which `keep` is false.
    template <typename Keep>
    void keep_if(Keep keep) {
        std::erase_if(items_, [&](const Diagnostic& one) {
            bool goes = !keep(one);
            errors_ -= goes && one.kind->severity == Severity::kError ? 1 : 0;
            return goes;
        });
    }

  private:
    friend class Checkpoint;
    void truncate(size_t size) {
        while (items_.size() > size) {
            errors_ -= items_.back().kind->severity == Severity::kError ? 1 : 0;
            items_.pop_back();
        }
    }

    std::deque<Diagnostic> items_;
    size_t errors_ = 0;
};

// A point in the findings of a run: what has been said since then can be looked at, and taken back
// where work was tried and is thrown away (a loop body that is typed again).
class Checkpoint {
  public:
    explicit Checkpoint(Diagnostics& findings)
        : findings_(&findings), size_(findings.items_.size()), errors_(findings.errors_) {}

    bool has_findings() const { return findings_->items_.size() != size_; }
    bool has_errors() const { return findings_->errors_ != errors_; }
    [[gnu::cold]] std::vector<Diagnostic> findings() const;
    void take_back() { findings_->truncate(size_); }

    // Adds a label to what came up in what is called there and is meant for callers: it says so, or
    // is an error in another file than the label's.
    [[gnu::cold]] void label_callers(Span span, std::string_view words);

  private:
    Diagnostics* findings_;
    size_t size_;
    size_t errors_;
};

}  // namespace sardonyx::diagnostics
