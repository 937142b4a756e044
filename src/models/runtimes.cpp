#include "models/runtimes.h"

#include "proto/proto.h"

namespace sardonyx::models {
namespace {

// What a release takes at most; before the first, nothing is promised. The rows follow the table
// of versions in ONNX Runtime's documentation and the onnx releases that they are built with.
struct Release {
    std::string_view version;
    int64_t standard, ml, ir;
};

constexpr Release kReleases[] = {
    {"0.1", 8, 1, 3},    {"0.3", 9, 1, 3},    {"0.4", 10, 1, 5},   {"1.0", 11, 2, 6},
    {"1.3", 12, 2, 7},   {"1.6", 13, 2, 7},   {"1.8", 14, 2, 7},   {"1.10", 15, 2, 8},
    {"1.11", 16, 2, 8},  {"1.12", 17, 3, 8},  {"1.14", 18, 3, 8},  {"1.15", 19, 3, 9},
    {"1.17", 20, 4, 9},  {"1.18", 21, 4, 10}, {"1.21", 22, 5, 10}, {"1.23", 23, 5, 11},
    {"1.24", 25, 5, 13}, {"1.31", 26, 5, 13},
};

}  // namespace

std::string needed_runtime(const ir::Model& model) {
    int64_t ir = proto::needed_ir_version(model);
    for (const Release& release : kReleases) {
        bool takes = ir <= release.ir && model.opset_version("") <= release.standard &&
                     model.opset_version("ai.onnx.ml") <= release.ml;
        for (const ir::Function* function : model.functions) {
            takes = takes && ir::opset_version(function->opset_imports, "") <= release.standard &&
                    ir::opset_version(function->opset_imports, "ai.onnx.ml") <= release.ml;
        }
        if (takes) {
            return std::string(release.version);
        }
    }
    return {};
}

}  // namespace sardonyx::models
