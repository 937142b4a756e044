// ONNX protobuf bytes <-> ir.
//
// Reading borrows: raw tensor data is a view of the file's bytes (kept alive by `owner`), nothing
// else is copied that need not be. Every length, count, depth and index of the input is checked;
// bad bytes are an Error that says at which message, never a crash. Writing is deterministic.
//
// Reading and writing keeps all that the ir holds, and as bytes what it has no words for (training
// information, device configurations, quantization annotations, opaque types, entries of value_info
// for initializers and for names that do not exist, unknown fields of models, functions, graphs and
// nodes). A model that nobody has changed can be written with its very bytes (as_read.h); else
// these are lost: unknown fields of other messages, denotations of types and dims, names and
// documentation of tensors that are not initializers, documentation of sparse initializers, an
// empty text's presence, a repeated opset import, and the encoding of tensors: elements go into
// raw_data, also those that were external.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "ir/ir.h"
#include "proto/forms.h"

namespace sardonyx::proto {

// Files with external data, by the location that the model gives them.
using ExternalFiles = std::map<std::string, MappedFile, std::less<>>;

// The ModelProto that a model was read from, or that the text of one means.
struct Source {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
    std::shared_ptr<const ExternalFiles> external = nullptr;  // null: there are none

    bool has_external() const { return external != nullptr && !external->empty(); }
};

struct ReadOptions {
    // The folder that external data is resolved in; empty: external data is an error. No absolute
    // paths, no `..`, no symbolic link that leaves the folder.
    std::string folder;
    FileStamps* stamps = nullptr;               // takes those of the files with external data
    std::vector<std::string>* paths = nullptr;  // takes the paths of those files
    // Has files that are not opened again, and takes those that are opened.
    ExternalFiles* files = nullptr;
    Source* source = nullptr;  // takes the bytes that are read
    // Takes what the format forbids though it can be read, as others do not.
    std::vector<std::string>* breaches = nullptr;
    int max_depth = 256;              // of nested graphs, types and attributes
    int64_t max_items = 100'000'000;  // nodes, values, attributes, dims ... in all
};

// Reads a ModelProto. `owner` keeps `bytes` alive. IR versions 3 to the newest. Names of values are
// resolved: an unknown input name, a name defined twice or a use before the definition is an error.
Result<std::unique_ptr<ir::Model>> read_model(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner,
                                              const ReadOptions& options = {});
// The same for a model in another form.
Result<std::unique_ptr<ir::Model>> read_model_text(std::span<const std::byte> text,
                                                   std::shared_ptr<const void> owner, Form form,
                                                   const ReadOptions& options = {});
// Maps the file, whose form its name says (forms.h); external data comes from its folder.
// `stamps`: of the files that stay mapped.
Result<std::unique_ptr<ir::Model>> read_model_file(const std::string& path,
                                                   FileStamps* stamps = nullptr);
// What else is wanted of a file that is read.
struct FileReport {
    FileStamps* stamps = nullptr;                  // of the files that stay mapped
    std::vector<std::string>* external = nullptr;  // the paths of the files with external data
    std::vector<std::string>* breaches = nullptr;  // see ReadOptions
    Source* source = nullptr;
};
Result<std::unique_ptr<ir::Model>> read_model_file(const std::string& path,
                                                   const FileReport& report);

// Reads a FunctionProto into a Model without a main graph.
Result<std::unique_ptr<ir::Model>> read_function(std::span<const std::byte> bytes,
                                                 std::shared_ptr<const void> owner,
                                                 const ReadOptions& options = {});

// Reads a TensorProto (as in .pb test data, or a value given from Python).
Result<Tensor> read_tensor(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           const ReadOptions& options = {});

// Reads a TypeProto, with the dims that names, expressions and placeholders in it mean; not known:
// an opaque type.
Result<Type> read_type(std::span<const std::byte> bytes);

// The lowest IR version that the content needs (opset imports, element types, overloads, metadata,
// ...), at least 4, or the model's own ir_version when that is set.
int64_t needed_ir_version(const ir::Model& model);

// Initializers that are written to files of their own beside the model.
struct External {
    size_t smallest = 0;        // bytes that an initializer has at least to go there; 0: none goes
    size_t alignment = 4096;    // of each in its file: on a page of its own, it can be mapped
    size_t file_bytes = 0;      // after which another file begins; 0: all go to one
    bool shares_equal = false;  // equal bytes are written once
    // What stands before the tensors of a file, which follow it without gaps; null: nothing does.
    std::function<Result<std::string>(std::span<const ir::Value* const>)> header = nullptr;
    // Whether a tensor can go there; null: all but STRING.
    std::function<bool(const Tensor&)> takes = nullptr;
    // The files' names, without a folder, in order; where one is missing, `location` stands for it.
    std::vector<std::string> locations;
    std::string location = "weights";

    // What write_model() puts there, file by file and in order: views of the model's tensors, of
    // `headers`, and of zeros between them.
    std::vector<std::vector<std::string_view>> files;
    std::vector<std::unique_ptr<std::string>> headers;
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
// The same bytes as write_model(), or the same model in a form that is text.
Result<ModelParts> write_model_parts(const ir::Model& model, External* external = nullptr,
                                     Form form = Form::kBytes);
// The model as a text of onnx.parser for people: large tensors are cut short.
Result<std::string> shown_text(const ir::Model& model);
Result<std::string> write_function(const ir::Model& model, const ir::Function& function);
// A model that has functions besides, each as write_function() gives it.
Result<std::string> write_library(const ir::Model& model, std::span<const std::string> functions);
std::string write_tensor(const Tensor& tensor, std::string_view name);
// A SequenceProto of items that are written already; the numbers are those of its DataType.
enum class ItemKind : uint8_t { kTensor = 1, kSequence = 3, kMap = 4 };
std::string write_sequence(ItemKind kind, std::span<const std::string> items,
                           std::string_view name);
// A MapProto; keys and values are tensors of rank 1 and one length.
std::string write_map(const Tensor& keys, const Tensor& values, std::string_view name);

}  // namespace sardonyx::proto
