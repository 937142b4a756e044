#include "driver/fix.h"

#include <fmt/format.h>

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

// What one round mends: in a file with errors those alone. What mends them, by us or by hand, may
// use an import that nobody has used before.
Findings mendable(const diagnostics::Diagnostics& found) {
    Findings findings = diagnostics::in_order(found);
    std::set<uint32_t> wrong;  // files
    for (const diagnostics::Diagnostic* one : findings) {
        if (one->kind->severity == diagnostics::Severity::kError) {
            wrong.insert(one->labels[0].span.file.index);
        }
    }
    std::erase_if(findings, [&](const diagnostics::Diagnostic* one) {
        return one->kind->severity != diagnostics::Severity::kError &&
               wrong.count(one->labels[0].span.file.index) != 0;
    });
    return findings;
}

// The texts after one round, by path, and what was mended; no texts when nothing was.
struct Round {
    std::map<std::string, std::string> texts;
    std::string lines;
};

Round repair(const Checked& checked) {
    const elaborate::Program& program = *checked.program;
    diagnostics::Repairs repairs =
        diagnostics::apply_edits(program.sources, mendable(program.diagnostics), files_of(checked));
    Round round;
    for (auto& [number, text] : repairs.texts) {
        std::string path(program.sources.path({number}));
        std::string_view before = program.sources.text({number});
        if (syntax_errors(path, text) <= syntax_errors(path, before)) {
            round.texts.emplace(std::move(path), std::move(text));
        }
    }
    for (const diagnostics::Diagnostic* one : repairs.findings) {
        if (round.texts.count(std::string(program.sources.path(one->labels[0].span.file))) != 0) {
            round.lines += line_of(program, *one);
        }
    }
    return round;
}

}  // namespace

Fixed fix(CheckRequest request) {
    Fixed fixed;
    Checked checked = check(request);
    std::map<std::string, std::string> before;
    for (int i = 0; i < kMaxRounds; ++i) {
        Round round = repair(checked);
        if (round.texts.empty()) {
            break;
        }
        for (const elaborate::FileModule* module : checked.modules) {
            auto found = round.texts.find(module->path());
            if (found == round.texts.end()) {
                continue;
            }
            before.try_emplace(module->path(), checked.program->sources.text(module->tree().file));
            for (CheckedFile& file : request.files) {
                bool is_it = std::filesystem::path(file.path).lexically_normal() == module->path();
                file.text = is_it ? std::optional(found->second) : file.text;
            }
        }
        fixed.text += round.lines;
        checked = check(request);
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
