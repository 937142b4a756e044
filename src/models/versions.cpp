#include "models/versions.h"

#include <algorithm>
#include <string>

#include "ops/versions.h"
#include "types/domain.h"

namespace sardonyx::models {

Result<void> set_opsets(ir::Model& model, ir::Editor& editor,
                        std::span<const ir::OpsetImport> imports) {
    if (imports.empty()) {
        return Error{"a model needs at least one opset import, for example {\"\": 20}"};
    }
    for (const ir::OpsetImport& import : imports) {
        if (std::string problem = ops::version_problem(import.domain, import.version);
            !problem.empty()) {
            return Error{std::move(problem)};
        }
    }
    for (const ir::OpsetImport& import : imports) {
        SDX_TRY(editor.set_opset(normal_domain(import.domain), import.version));
    }
    std::erase_if(model.opset_imports, [imports](const ir::OpsetImport& old) {
        return std::none_of(imports.begin(), imports.end(), [&old](const ir::OpsetImport& import) {
            return normal_domain(import.domain) == normal_domain(old.domain);
        });
    });
    return {};
}

Result<void> set_ir_version(ir::Model& model, int64_t version) {
    if (version != 0) {
        if (std::string problem = ops::ir_version_problem(version); !problem.empty()) {
            return Error{std::move(problem)};
        }
    }
    model.ir_version = version;
    return {};
}

}  // namespace sardonyx::models
