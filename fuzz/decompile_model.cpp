// Any bytes as a model: an error, or a text of ASCII that the parser takes without a finding, whose
// top level holds nothing but imports, assignments of calls, and functions. A program of C++ is of
// ASCII too, and no comment of it goes on in the next line.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "decompile/cpp.h"
#include "decompile/decompile.h"
#include "decompile/isomorphic.h"
#include "proto/proto.h"
#include "syntax/parse.h"

namespace {

using namespace sardonyx;

bool is_ours(const syntax::Stmt& statement) {
    switch (statement.kind) {
        case syntax::StmtKind::kImport:
        case syntax::StmtKind::kImportFrom:
        case syntax::StmtKind::kFunctionDef:
            return true;
        case syntax::StmtKind::kAssign:
            return syntax::as<syntax::AssignStmt>(&statement)->value->kind ==
                   syntax::ExprKind::kCall;
        default:
            return false;
    }
}

void check_letters(const std::string& text) {
    for (char c : text) {
        SDX_CHECK(c == '\n' || (c >= 0x20 && c < 0x7F));
    }
}

void check_text(const std::string& text) {
    check_letters(text);
    diagnostics::Sources sources;
    diagnostics::Diagnostics findings;
    syntax::Tree tree = syntax::parse(sources, sources.add("fuzz.py", text), findings);
    SDX_CHECK(findings.items().empty());
    for (const syntax::Stmt* statement : tree.body) {
        SDX_CHECK(is_ours(*statement));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auto model = proto::read_model(std::as_bytes(std::span<const uint8_t>(data, size)), nullptr);
    if (!model.ok()) {
        return 0;
    }
    using decompile::Weights;
    for (Weights weights : {Weights::kLiterals, Weights::kReference, Weights::kFile}) {
        decompile::Options options;
        options.weights = weights;
        options.weights_path = "weights.safetensors";
        Result<decompile::Script> script = decompile::decompile(**model, options);
        if (script.ok()) {
            check_text(script->text);
        } else {
            SDX_CHECK(!script.error().message.empty());
        }
    }
    if (!decompile::is_library(**model) && !(*model)->graph->outputs.empty()) {
        Result<decompile::Script> program = decompile::decompile_cpp(**model, {});
        if (program.ok()) {
            check_letters(program->text);
            SDX_CHECK(program->text.find("\\\n") == std::string::npos);
        }
    }
    SDX_CHECK(decompile::difference(**model, **model).empty());
    return 0;
}
