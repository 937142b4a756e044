// ONNX protobuf bytes <-> ir.
//
// Reading borrows: raw tensor data is a view of the file's bytes (kept alive by `owner`), nothing
// else is copied that need not be. Every length, count, depth and index of the input is checked;
// bad bytes are an Error that says at which message, never a crash. Writing is deterministic.
//
// Reading and writing keeps all that the ir holds, and as bytes what it has no words for (training
// information, device configurations, quantization annotations, opaque types, entries of value_info
// for initializers and for names that do not exist, unknown fields of models, functions, graphs and
// nodes). Lost are: unknown fields of other messages, denotations of types and dims, names and
// documentation of tensors that are not initializers, documentation of sparse initializers, an
// empty text's presence, a repeated opset import, and the encoding of tensors: elements go into
// raw_data, also those that were external.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::proto {

struct ReadOptions {
    // The folder that external data is resolved in; empty: external data is an error. No absolute
    // paths, no `..`, no symbolic link that leaves the folder.
    std::string folder;
    FileStamps* stamps = nullptr;     // takes those of the files with external data
    int max_depth = 256;              // of nested graphs, types and attributes
    int64_t max_items = 100'000'000;  // nodes, values, attributes, dims ... in all
};

// Reads a ModelProto. `owner` keeps `bytes` alive. IR versions 3 to the newest. Names of values are
// resolved: an unknown input name, a name defined twice or a use before the definition is an error.
Result<std::unique_ptr<ir::Model>> read_model(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner,
                                              const ReadOptions& options = {});
// Maps the file; external data comes from its folder. `stamps`: of the files that stay mapped.
Result<std::unique_ptr<ir::Model>> read_model_file(const std::string& path,
                                                   FileStamps* stamps = nullptr);

// Reads a FunctionProto into a Model without a main graph.
Result<std::unique_ptr<ir::Model>> read_function(std::span<const std::byte> bytes,
                                                 std::shared_ptr<const void> owner,
                                                 const ReadOptions& options = {});

// Reads a TensorProto (as in .pb test data, or a value given from Python).
Result<Tensor> read_tensor(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           const ReadOptions& options = {});

// The lowest IR version that the content needs (opset imports, element types, overloads, metadata,
// ...), at least 4, or the model's own ir_version when that is set.
int64_t needed_ir_version(const ir::Model& model);

// Initializers that are written to a file of their own beside the model.
struct External {
    size_t smallest = 0;   // bytes that an initializer has at least to go there; 0: none goes
    std::string location;  // the file's name, without a folder
    // What write_model() puts there, in order: views of the model's tensors, and zeros between
    // them, so that each begins on a page and can be mapped.
    std::vector<std::string_view> parts;
};

// Serialised ModelProto. Types and shapes of all values that have them go into value_info. Error:
// more than 2 GiB without external data.
Result<std::string> write_model(const ir::Model& model, External* external = nullptr);

// A serialised model whose large tensors are where they were: what it takes is the size of the
// graph.
struct ModelParts {
    struct Other {
        size_t place = 0;  // in `own`, before which it comes
        std::string_view bytes;
    };
    std::string own;
    std::vector<Other> others;

    std::vector<std::string_view> parts() const;  // in order
    size_t size() const;
};
// The same bytes as write_model().
Result<ModelParts> write_model_parts(const ir::Model& model, External* external = nullptr);
Result<std::string> write_function(const ir::Model& model, const ir::Function& function);
std::string write_tensor(const Tensor& tensor, std::string_view name);

}  // namespace sardonyx::proto
