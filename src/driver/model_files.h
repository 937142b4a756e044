// A model to a file, with its large initializers in a file beside it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "ir/ir.h"
#include "proto/as_read.h"
#include "proto/forms.h"

namespace sardonyx::driver {

// Where a model that is not as it was read has large initializers, if its source had some there.
constexpr size_t kExternalBytes = 1024;

struct SaveOptions {
    // Initializers of so many bytes and more go beside the model; 0: none. Nothing: kExternalBytes
    // with `file_bytes`, `safetensors` or `share_equal`; else as it was: a model that
    // nobody has changed keeps its files of data, byte by byte, and one that had some has one file
    // of its own.
    std::optional<size_t> external_bytes = std::nullopt;
    size_t alignment = 4096;   // of each in its file; 1 to 65536
    size_t file_bytes = 0;     // after which another file begins; 0: all go to one
    bool safetensors = false;  // the files are .safetensors, without gaps
    bool share_equal = false;  // equal tensors are written once
    std::optional<proto::Form> form = std::nullopt;  // nothing: what the path's ending says
    proto::Source source = {};  // whose bytes are written again where the model is as it was
    FileStamps files = {};      // that the model is mapped from
    // Is told how many bytes of all are written; null: nobody is.
    std::function<void(size_t done, size_t all)> watch = nullptr;
};

// Writes the model, and its large initializers beside it, to PATH.<16 digits of their
// content>.data (or .safetensors); the size of all. Data have a name of their content, so that a
// model never finds those of another: the old model and its data are whole until the new model
// takes its name, whatever happens on the way. The data of the old one are removed then. Files of
// data that keep their names never replace others.
Result<size_t> write_model_files(const ir::Model& model, const std::string& path,
                                 const SaveOptions& options);

}  // namespace sardonyx::driver
