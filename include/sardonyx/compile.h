// Compilation: the text of ONNX Script functions to a Model.
#pragma once

#include <sardonyx/export.h>
#include <sardonyx/model.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sardonyx {
inline namespace v1 {

struct CompileOptions {
    // The script to compile. Empty: the only one that no other script of the file uses.
    std::string function = {};
    // Types of inputs by parameter name, such as {"x", "FLOAT[2,N]"}; they win over annotations.
    std::vector<std::pair<std::string, std::string>> input_types = {};
    // Values of attribute parameters by name, as Python literals: {"axes", "[0, 1]"}.
    std::vector<std::pair<std::string, std::string>> attributes = {};
    // Files with operators of other domains.
    std::vector<std::string> schemas = {};
    // Folders of modules that the script imports, beside that of its file.
    std::vector<std::string> library_path = {};
    // Arrays that names of the file stand for before its first line runs, such as weights.
    std::vector<std::pair<std::string, Array>> globals = {};
    // Metadata (`metadata_props`) of the nodes that a line of the file makes, by lines from 1.
    std::map<int, std::vector<std::pair<std::string, std::string>>> line_metadata = {};
    int64_t opset = 0;         // of ai.onnx, in place of the script's; 0: the script's
    int64_t ir_version = 0;    // 0: the lowest that the content needs
    bool as_function = false;  // a FunctionProto, whose inputs need no types and which is not run
};

// CompileError: the script has mistakes. Error: the options name what is not there, or no script of
// several is the obvious one.
SDX_API Model compile_file(const std::string& path, const CompileOptions& options = {});
// The same for text at hand; `path` is for messages and for files that it imports.
SDX_API Model compile_text(std::string text, const std::string& path = "<text>",
                           const CompileOptions& options = {});

}  // namespace v1
}  // namespace sardonyx
