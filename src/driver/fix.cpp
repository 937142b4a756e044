#include "driver/fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "diagnostics/glyphs.h"
#include "diagnostics/order.h"
#include "diagnostics/repair.h"
#include "syntax/parse.h"

namespace sardonyx::driver {
namespace {

// Repairs that bring back what others mend would never end.
constexpr int kMaxRounds = 16;
constexpr int kMaxTries = 200;  // in all, with those that take one finding each

std::vector<diagnostics::FileId> files_of(const Checked& checked) {
    std::vector<diagnostics::FileId> files;
    for (const elaborate::FileModule* module : checked.modules) {
        files.push_back(module->tree().file);
    }
    return files;
}

size_t syntax_errors(const std::string& path, std::string_view text) {
    diagnostics::Sources sources;
    diagnostics::Diagnostics found;
    (void)syntax::parse(sources, sources.add(path, std::string(text)), found);
    return found.error_count();
}

// "gelu.py:7:12: fixed unknown-operator: `ai.onnx` has no operator `Reluu`"
std::string line_of(const elaborate::Program& program, const diagnostics::Diagnostic& one) {
    const diagnostics::Span& span = one.labels[0].span;
    diagnostics::Position at = program.sources.position(span.file, span.begin);
    return fmt::format("{}:{}:{}: fixed {}: {}\n", program.sources.path(span.file), at.line,
                       at.column, one.kind->code, diagnostics::visible(one.message));
}

using Findings = std::vector<const diagnostics::Diagnostic*>;

// As they are shown: equal ones count once.
size_t count_errors(const Checked& checked) {
    Findings findings = diagnostics::in_order(checked.program->diagnostics);
    return static_cast<size_t>(
        std::count_if(findings.begin(), findings.end(), [](const diagnostics::Diagnostic* one) {
            return one->kind->severity == diagnostics::Severity::kError;
        }));
}

// A finding, in whatever round it is told again.
std::string identity(const elaborate::Program& program, const diagnostics::Diagnostic& one) {
    return fmt::format("{}\n{}\n{}", program.sources.path(one.labels[0].span.file), one.kind->code,
                       one.message);
}

struct Wanted {
    diagnostics::Applicability least;
    std::set<std::string> refused;  // findings whose repairs would bring errors
    bool is_careful = false;        // one finding in each round
};

// What one round mends: in a file with errors those alone. What mends them, by us or by hand, may
// use an import that nobody has used before.
Findings mendable(const elaborate::Program& program, const Wanted& wanted) {
    Findings findings = diagnostics::in_order(program.diagnostics);
    std::set<uint32_t> wrong;  // files
    for (const diagnostics::Diagnostic* one : findings) {
        if (one->kind->severity == diagnostics::Severity::kError) {
            wrong.insert(one->labels[0].span.file.index);
        }
    }
    std::erase_if(findings, [&](const diagnostics::Diagnostic* one) {
        bool is_late = one->kind->severity != diagnostics::Severity::kError &&
                       wrong.count(one->labels[0].span.file.index) != 0;
        return is_late || one->edits.empty() ||
               diagnostics::applicability_of(*one) < wanted.least ||
               wanted.refused.count(identity(program, *one)) != 0;
    });
    if (wanted.is_careful && findings.size() > 1) {
        findings.resize(1);
    }
    return findings;
}

// The texts after one round, by path, and what was mended; no texts when nothing was.
struct Round {
    std::map<std::string, std::string> texts;
    std::string lines;
    std::vector<std::string> mended;  // identities
};

Round repair(const Checked& checked, const Wanted& wanted) {
    const elaborate::Program& program = *checked.program;
    diagnostics::Repairs repairs =
        diagnostics::apply_edits(program.sources, mendable(program, wanted), files_of(checked));
    Round round;
    for (auto& [number, text] : repairs.texts) {
        std::string path(program.sources.path({number}));
        std::string_view before = program.sources.text({number});
        if (syntax_errors(path, text) <= syntax_errors(path, before)) {
            round.texts.emplace(std::move(path), std::move(text));
        }
    }
    for (const diagnostics::Diagnostic* one : repairs.findings) {
        round.mended.push_back(identity(program, *one));
        if (round.texts.count(std::string(program.sources.path(one->labels[0].span.file))) != 0) {
            round.lines += line_of(program, *one);
        }
    }
    return round;
}

// The files with the texts of a round.
std::vector<CheckedFile> with_texts(std::vector<CheckedFile> files, const Round& round) {
    for (CheckedFile& file : files) {
        auto found = round.texts.find(std::filesystem::path(file.path).lexically_normal().string());
        if (found != round.texts.end()) {
            file.text = found->second;
        }
    }
    return files;
}

}  // namespace

Fixed fix(CheckRequest request, diagnostics::Applicability least) {
    Fixed fixed;
    Wanted wanted{least, {}, false};
    Checked checked = check(request);
    std::map<std::string, std::string> before;
    int rounds = 0;
    for (int tries = 0; tries < kMaxTries && rounds < kMaxRounds; ++tries) {
        Round round = repair(checked, wanted);
        if (round.mended.empty()) {
            break;
        }
        CheckRequest tried = request;
        tried.files = with_texts(std::move(tried.files), round);
        Checked after = check(tried);
        if (round.texts.empty() || count_errors(after) > count_errors(checked)) {
            // One of them alone, and never again where that is the one.
            if (wanted.is_careful || round.mended.size() == 1) {
                wanted.refused.insert(round.mended[0]);
            }
            wanted.is_careful = true;
            continue;
        }
        for (const elaborate::FileModule* module : checked.modules) {
            if (round.texts.count(module->path()) != 0) {
                before.try_emplace(module->path(),
                                   checked.program->sources.text(module->tree().file));
            }
        }
        request = std::move(tried);
        fixed.text += round.lines;
        checked = std::move(after);
        rounds += wanted.is_careful ? 0 : 1;
    }
    for (CheckedFile& file : request.files) {
        auto found = before.find(std::filesystem::path(file.path).lexically_normal().string());
        if (found != before.end()) {
            fixed.files.push_back({file.path, std::move(found->second), std::move(*file.text)});
            before.erase(found);
        }
    }
    fixed.program = std::move(checked.program);
    return fixed;
}

}  // namespace sardonyx::driver
