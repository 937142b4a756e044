#include "driver/definition.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "diagnostics/ignore.h"
#include "syntax/lambda.h"
#include "syntax/parse.h"

namespace sardonyx::driver {
namespace {

// The lambda of a statement that was asked for, as a function that returns its value; null: it is
// not there. Of several, the first: they are the same code.
const syntax::FunctionDefStmt* lambda_as_function(syntax::Tree& tree, std::string_view text,
                                                  const IsLambda& is_lambda) {
    for (const syntax::LambdaExpr* lambda : syntax::lambdas_in(tree)) {
        syntax::Range range = lambda->range;
        if (is_lambda(text.substr(range.begin, range.end - range.begin))) {
            return syntax::as_function(tree, *lambda);
        }
    }
    return nullptr;
}

}  // namespace

Result<Definition> read_definition(elaborate::Program& program, diagnostics::FileId file,
                                   uint32_t line, std::string_view name,
                                   const IsLambda& is_lambda) {
    const diagnostics::Sources& sources = program.sources;
    std::string_view text = sources.text(file), first = sources.line(file, line);
    if (first.data() == nullptr) {
        return Error{
            fmt::format("`{}` has become shorter since it was imported", sources.path(file))};
    }
    auto begin = static_cast<uint32_t>(first.data() - text.data());
    Definition found;
    found.tree = std::make_shared<syntax::Tree>(
        syntax::parse_statement(sources, file, begin, program.diagnostics));
    const auto& body = found.tree->body;
    found.whole = {file, begin, body.empty() ? begin : body[0]->range.end};
    found.name = name;
    if (program.diagnostics.has_errors()) {
        diagnostics::silence(sources, program.diagnostics);
        return found;
    }
    if (is_lambda && name == "<lambda>") {
        found.name = "lambda";
        found.function = lambda_as_function(*found.tree, text, is_lambda);
        return found;
    }
    found.function = body.empty() ? nullptr : syntax::maybe_as<syntax::FunctionDefStmt>(body[0]);
    if (found.function == nullptr || found.tree->names.text(found.function->name) != name) {
        return Error{
            fmt::format("`{}` has no `def {}` in line {}: it has changed since it was imported",
                        sources.path(file), name, line)};
    }
    return found;
}

// Python keeps the path by which each file was found, so that one folder can have several
// spellings.
bool is_of_program(const std::string& path, const std::string& script_path) {
    namespace fs = std::filesystem;
    if (script_path.find_last_of("/\\") == std::string::npos) {
        return true;  // it has no folder
    }
    std::error_code failed;
    fs::path file = fs::weakly_canonical(path, failed);
    fs::path folder = failed ? fs::path() : fs::weakly_canonical(script_path, failed).parent_path();
    fs::path relative = failed ? fs::path() : file.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

void check_definition(elaborate::Program& program, const elaborate::ScriptFunction& script,
                      const ops::SchemaSet* schemas, const elaborate::OpsetOfName& opset_of) {
    std::vector<elaborate::MistakenCall> calls =
        elaborate::mistaken_calls(script, schemas, opset_of);
    if (!calls.empty()) {
        elaborate::Options options;
        options.schemas = schemas;
        elaborate::report_mistaken_calls(program, script, options, calls);
    }
    diagnostics::silence(program.sources, program.diagnostics);
}

}  // namespace sardonyx::driver
