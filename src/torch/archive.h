// The entries of a .pt2 file, by their names below its root folder: the model's JSON, and the bytes
// of storages, which stay where they are. Nothing is unpickled.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_reader.h"
#include "base/result.h"
#include "base/zip.h"
#include "types/tensor.h"

namespace sardonyx::torch {

// ONNX's name of an element type by torch's number of it in these files; empty: it has none.
std::string_view element_type_name(int64_t number);
// The same of the parts of a complex number.
std::string_view complex_part_name(int64_t number);

// How a weight or constant lies in the archive.
struct StoredTensor {
    JsonValue meta;
    bool is_pickled = false;
    std::string entry;
};

class Archive {
  public:
    // `owner` keeps the bytes alive.
    static Result<Archive> open(std::span<const std::byte> bytes,
                                std::shared_ptr<const void> owner);

    // The JSON of the model, of a version that is known.
    Result<JsonValue> model();
    // Adds the tensors of a folder by their names: ("weights", "weights").
    Result<void> read_tensors(std::string_view folder, std::string_view kind,
                              std::unordered_map<std::string, StoredTensor>& found);
    // Sizes and strides over a storage; complex ones as pairs of numbers. What is not contiguous is
    // copied.
    Result<Tensor> tensor(const StoredTensor& stored);

  private:
    Result<std::string_view> text_of(const std::string& name) const;
    Result<JsonValue> json_of(const std::string& name);

    std::unordered_map<std::string, ZipEntry> entries_;
    std::vector<std::string> models_;
    std::vector<std::unique_ptr<JsonDocument>> documents_;
    std::shared_ptr<const void> owner_;
    uint64_t copied_ = 0;  // bytes
};

}  // namespace sardonyx::torch
