// sardonyx check: findings about scripts and models, and the repairs that findings carry.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/standard_input.h"
#include "cli/terminal.h"
#include "cli/unified_diff.h"
#include "diagnostics/glyphs.h"
#include "diagnostics/order.h"
#include "diagnostics/render.h"
#include "driver/fix.h"
#include "driver/notebook.h"

namespace sardonyx::cli {
namespace {

std::string types_text(const elaborate::Program& program, CheckFormat format,
                       std::span<const diagnostics::Inlay> types) {
    std::vector<diagnostics::Inlay> ordered = diagnostics::in_order(types);
    if (format != CheckFormat::kText) {
        return diagnostics::render_inlays_json(program.sources, ordered);
    }
    std::string text;
    for (size_t begin = 0, end = 0; begin < ordered.size(); begin = end) {
        diagnostics::FileId file = ordered[begin].span.file;
        while (end < ordered.size() && ordered[end].span.file == file) {
            ++end;
        }
        text += diagnostics::render_inlays(program.sources, file,
                                           std::span(ordered).subspan(begin, end - begin));
    }
    return text;
}

std::string report(CheckFormat format, const elaborate::Program& program) {
    switch (format) {
        case CheckFormat::kJson:
            return diagnostics::render_json(program.sources, program.diagnostics);
        case CheckFormat::kSarif:
            return diagnostics::render_sarif(program.sources, program.diagnostics);
        case CheckFormat::kText:
            break;
    }
    return program.diagnostics.items().empty()
               ? std::string()
               : render_findings(program.sources, program.diagnostics);
}

std::string quantity(size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// What has not been looked at, a line for each reason.
std::string left_out(const std::vector<std::string>& paths, std::string_view reason,
                     std::string_view what = "checked") {
    constexpr size_t kMost = 5;
    std::string list;
    for (size_t i = 0; i < paths.size() && i < kMost; ++i) {
        list += fmt::format("{}`{}`", i == 0 ? "" : ", ", diagnostics::visible(paths[i]));
    }
    if (paths.size() > kMost) {
        list += fmt::format(" and {} more", paths.size() - kMost);
    }
    return paths.empty() ? std::string() : fmt::format("not {}: {}: {}\n", what, list, reason);
}

// "2 errors and 1 warning in 3 files", as they are shown: equal ones count once.
std::string check_summary(size_t files, const diagnostics::Diagnostics& diagnostics,
                          const driver::FoundFiles& found,
                          const std::vector<std::string>& unfixed) {
    size_t errors = 0, warnings = 0;
    for (const diagnostics::Diagnostic* one : diagnostics::in_order(diagnostics)) {
        errors += one->kind->severity == diagnostics::Severity::kError ? 1 : 0;
        warnings += one->kind->severity == diagnostics::Severity::kWarning ? 1 : 0;
    }
    std::string findings = errors == 0 && warnings == 0 ? "no errors or warnings"
                           : warnings == 0              ? quantity(errors, "error")
                           : errors == 0                ? quantity(warnings, "warning")
                                         : fmt::format("{} and {}", quantity(errors, "error"),
                                                       quantity(warnings, "warning"));
    return fmt::format(
        "{}{}{}{} in {}\n", left_out(found.empty, "no .py or .ipynb files there"),
        left_out(found.unreadable, "the folder cannot be read"),
        left_out(unfixed, "`--fix` and `--diff` leave notebooks as they are", "fixed"), findings,
        quantity(files, "file"));
}

bool has_warnings(const diagnostics::Diagnostics& diagnostics) {
    return std::any_of(diagnostics.items().begin(), diagnostics.items().end(),
                       [](const diagnostics::Diagnostic& one) {
                           return one.kind->severity == diagnostics::Severity::kWarning;
                       });
}

// Writes what has been repaired, or shows it; false when a file cannot be written.
bool put_repairs(const CheckOptions& options, const driver::Fixed& fixed) {
    for (const driver::FixedFile& file : fixed.files) {
        if (options.diff) {
            print(unified_diff(file.path, file.before, file.after));
            continue;
        }
        Result<void> written = write_file(file.path, file.after, WriteMode::kKeepRights);
        if (!written.ok()) {
            print_error(written.error().message);
            return false;
        }
    }
    // The standard output of the other formats is for programs.
    if (options.format == CheckFormat::kText && !options.diff) {
        print(fixed.text);
    }
    return true;
}

// FILE.py:NAME, where FILE.py is there; the file. Empty: no such path.
std::string file_of_script(const std::vector<std::string>& paths) {
    std::error_code failed;
    for (const std::string& path : paths) {
        size_t colon = path.rfind(':');
        if (colon != std::string::npos && !std::filesystem::exists(path, failed) &&
            std::filesystem::is_regular_file(path.substr(0, colon), failed)) {
            return path.substr(0, colon);
        }
    }
    return {};
}

}  // namespace

int run_check(const CheckOptions& options) {
    if (std::string file = file_of_script(options.paths); !file.empty()) {
        print_error(fmt::format("`check` takes whole files: `sardonyx check {}`", file));
        return kUsage;
    }
    driver::FoundFiles found = driver::find_files(options.paths, options.exclude);
    for (driver::CheckedFile& file : found.files) {
        if (file.path != kStream) {
            continue;
        }
        if (standard_input_is_model()) {
            file = {"/dev/stdin", false, {}};
            continue;
        }
        if (options.fix) {
            print_error("`--fix` cannot write to standard input: use `--diff`");
            return kUsage;
        }
        Result<std::string> text = read_standard_input();
        if (!text.ok()) {
            print_error(text.error().message);
            return kFailure;
        }
        file = {
            options.stdin_name.empty() ? std::string(driver::kStandardInput) : options.stdin_name,
            true, std::move(*text)};
    }
    size_t count = found.files.size();
    std::vector<std::string> unfixed;
    for (const driver::CheckedFile& file : found.files) {
        if ((options.fix || options.diff) && driver::is_notebook(file.path)) {
            unfixed.push_back(file.path);
        }
    }
    driver::CheckRequest request{std::move(found.files), {},
                                 options.schemas,        options.select,
                                 options.ignore,         options.opset,
                                 options.library_path,   options.types};
    std::unique_ptr<elaborate::Program> program;
    bool is_written = true;
    if (options.fix || options.diff) {
        driver::Fixed fixed =
            driver::fix(request, options.unsafe_fixes ? diagnostics::Applicability::kUnsafe
                                                      : diagnostics::Applicability::kSafe);
        is_written = put_repairs(options, fixed);
        program = std::move(fixed.program);
    } else {
        driver::Checked checked = driver::check(request);
        program = std::move(checked.program);
        if (options.types) {
            print_findings(program->sources, program->diagnostics);
            print(types_text(*program, options.format, checked.types));
        }
    }
    if (!options.diff && !options.types) {
        print(report(options.format, *program));
    }
    if (options.format == CheckFormat::kText && !options.quiet && !options.types) {
        print_note(check_summary(count, program->diagnostics, found, unfixed));
    }
    bool is_strict = options.warnings_as_errors || options.fix || options.diff;
    bool fails = !is_written || program->diagnostics.has_errors() ||
                 (is_strict && has_warnings(program->diagnostics));
    return fails ? kFailure : kSuccess;
}

}  // namespace sardonyx::cli
