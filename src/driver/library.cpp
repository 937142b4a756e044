#include "driver/library.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "proto/proto.h"

namespace sardonyx::driver {
namespace {

// Of each domain the newest version that a function imports, and its own domain.
void import_opsets(ir::Model& library, const ir::Function& function, const ir::Model& of) {
    std::vector<ir::OpsetImport> wanted = function.opset_imports;
    wanted.insert(wanted.end(), of.opset_imports.begin(), of.opset_imports.end());
    wanted.push_back({function.domain, 1});
    for (const ir::OpsetImport& import : wanted) {
        auto known =
            std::find_if(library.opset_imports.begin(), library.opset_imports.end(),
                         [&](const ir::OpsetImport& one) { return one.domain == import.domain; });
        if (known == library.opset_imports.end()) {
            library.opset_imports.push_back({library.intern(import.domain), import.version});
        } else {
            known->version = std::max(known->version, import.version);
        }
    }
}

}  // namespace

Result<std::unique_ptr<ir::Model>> make_library(std::span<const CompiledScript> scripts) {
    ir::Model library;
    library.graph = library.make_graph(nullptr);
    library.graph->name = "functions";
    std::set<std::tuple<std::string, std::string, std::string>> known;
    std::vector<std::string> written;
    for (const CompiledScript& script : scripts) {
        library.producer_name = library.intern(script.model->producer_name);
        library.ir_version = std::max(library.ir_version, proto::needed_ir_version(*script.model));
        for (const ir::Function* function : script.model->functions) {
            if (known.emplace(function->domain, function->name, function->overload).second) {
                import_opsets(library, *function, *script.model);
                SDX_ASSIGN(std::string bytes, proto::write_function(*script.model, *function));
                written.push_back(std::move(bytes));
            }
        }
    }
    SDX_ASSIGN(std::string bytes, proto::write_library(library, written));
    auto owner = std::make_shared<std::string>(std::move(bytes));
    return proto::read_model(std::as_bytes(std::span<const char>(*owner)), owner);
}

}  // namespace sardonyx::driver
