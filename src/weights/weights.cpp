#include "weights/weights.h"

#include <fmt/format.h>

#include <optional>

#include "base/content_hash.h"
#include "base/file.h"
#include "ir/sparse.h"
#include "proto/proto.h"
#include "weights/npy.h"

namespace sardonyx::weights {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Result<NamedTensors> read_initializers(const std::string& path) {
    FileStamps files;
    Result<std::unique_ptr<ir::Model>> model = proto::read_model_file(path, &files);
    SDX_TRY(model);
    SDX_TRY(check_unchanged(files));
    NamedTensors tensors;
    if ((*model)->graph == nullptr) {
        return tensors;
    }
    SDX_TRY(ir::make_dense(**model));
    for (const ir::Value* value : (*model)->graph->initializers) {
        tensors.emplace_back(std::string(value->name), *value->constant);
    }
    return tensors;
}

Result<NamedTensors> read_one(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    Result<Tensor> tensor = read_npy(bytes, std::move(owner));
    SDX_TRY(tensor);
    return NamedTensors{{"", std::move(*tensor)}};
}

struct Format {
    std::string_view suffix;
    Result<NamedTensors> (*read)(std::span<const std::byte>, std::shared_ptr<const void>);
};

constexpr Format kFormats[] = {
    {".npy", read_one}, {".npz", read_npz}, {".safetensors", read_safetensors}};

}  // namespace

Result<NamedTensors> read_weights(const std::string& path) {
    if (ends_with(path, ".onnx")) {
        return read_initializers(path);
    }
    for (const Format& format : kFormats) {
        if (!ends_with(path, format.suffix)) {
            continue;
        }
        Result<MappedFile> file = map_file(path);
        SDX_TRY(file);
        FileStamps files;
        if (file->stamp != nullptr) {
            files.push_back(file->stamp);
        }
        std::optional<MappedReading> reading(files);
        Result<NamedTensors> tensors = format.read(file->bytes, file->owner);
        reading.reset();
        SDX_TRY(check_unchanged(files));
        if (!tensors.ok()) {
            return Error{fmt::format("`{}`: {}", path, tensors.error().message)};
        }
        return tensors;
    }
    return Error{
        fmt::format("`{}`: weights come from a .safetensors, .npz, .npy or .onnx file", path)};
}

uint64_t content_hash(const NamedTensors& tensors) {
    ContentHash hash;
    for (const auto& [name, tensor] : tensors) {
        std::string text = name + '\0' + tensor.type().to_string() + '\0';
        std::span<const std::byte> bytes = tensor.bytes();
        hash.add(text);
        hash.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    return hash.value();
}

}  // namespace sardonyx::weights
