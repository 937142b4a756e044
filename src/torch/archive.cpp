#include "torch/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "torch/names.h"

namespace sardonyx::torch {
namespace {

constexpr int64_t kSchema = 8;                        // the major version that is read
constexpr uint64_t kMostCopied = uint64_t{1} << 31U;  // bytes of what is not contiguous

struct TypeRow {
    int64_t number;
    ElementType type;
    bool is_complex = false;  // the type is that of the parts
};
// torch's numbers of element types in these files.
constexpr TypeRow kTypes[] = {
    {1, ElementType::kUint8},           {2, ElementType::kInt8},
    {3, ElementType::kInt16},           {4, ElementType::kInt32},
    {5, ElementType::kInt64},           {6, ElementType::kFloat16},
    {7, ElementType::kFloat},           {8, ElementType::kDouble},
    {9, ElementType::kFloat16, true},   {10, ElementType::kFloat, true},
    {11, ElementType::kDouble, true},   {12, ElementType::kBool},
    {13, ElementType::kBfloat16},       {28, ElementType::kUint16},
    {29, ElementType::kFloat8E4M3FN},   {30, ElementType::kFloat8E5M2},
    {31, ElementType::kFloat8E4M3FNUZ}, {32, ElementType::kFloat8E5M2FNUZ},
    {34, ElementType::kUint32},         {35, ElementType::kUint64}};

const TypeRow* type_row(int64_t number) {
    const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const TypeRow& row) { return row.number == number; });
    return found != std::end(kTypes) ? found : nullptr;
}

std::string list_text(const Dims& dims) {
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

// The numbers of a list such as `[{"as_int": 4}]`; sizes of arrays are numbers.
Result<int64_t> whole_number(JsonValue value) {
    std::optional<int64_t> found = (value.is_object() ? value["as_int"] : value).integer();
    if (!found) {
        return Error{fmt::format("{} where a number is expected",
                                 python_string(value.source().substr(0, 60), '\''))};
    }
    return *found;
}

Result<Dims> whole_numbers(JsonValue list) {
    Dims all;
    for (JsonValue one : list.items()) {
        SDX_ASSIGN(int64_t number, whole_number(one));
        all.push_back(number);
    }
    return all;
}

// Copies the elements of `width` bytes row by row; the last dimension is the innermost.
void gather(const std::byte* from, std::byte*& to, size_t width, std::span<const int64_t> dims,
            std::span<const int64_t> strides) {
    if (dims.empty()) {
        std::memcpy(to, from, width);
        to += width;
        return;
    }
    for (int64_t i = 0; i < dims[0]; ++i) {
        gather(from + static_cast<size_t>(i * strides[0]) * width, to, width, dims.subspan(1),
               strides.subspan(1));
    }
}

bool is_contiguous(const Dims& dims, const Dims& strides) {
    int64_t wanted = 1;
    for (size_t i = dims.size(); i-- > 0;) {
        if (dims[i] != 1 && strides[i] != wanted) {
            return false;
        }
        wanted *= dims[i];
    }
    return true;
}

// A view of a storage, in elements.
struct Layout {
    Dims dims;
    Dims strides;
    int64_t first = 0;
    int64_t count = 0;
};

Result<Layout> read_layout(const StoredTensor& stored, int64_t elements) {
    Layout layout;
    SDX_ASSIGN(layout.dims, whole_numbers(stored.meta["sizes"]));
    SDX_ASSIGN(layout.strides, whole_numbers(stored.meta["strides"]));
    SDX_ASSIGN(layout.first, whole_number(stored.meta["storage_offset"]));
    auto is_negative = [](int64_t one) { return one < 0; };
    const Dims& dims = layout.dims;
    const Dims& strides = layout.strides;
    constexpr size_t kMostDims = 64;
    if (dims.size() != strides.size() || dims.size() > kMostDims || layout.first < 0 ||
        std::any_of(dims.begin(), dims.end(), is_negative) ||
        std::any_of(strides.begin(), strides.end(), is_negative)) {
        return Error{fmt::format("{} has sizes {} and strides {}", python_string(stored.entry, '`'),
                                 list_text(dims), list_text(strides))};
    }
    std::optional<int64_t> count = element_count(dims);
    if (!count || *count > std::max<int64_t>(elements, kMostCopied)) {
        return Error{fmt::format("{} has {} elements, and its tensor {}",
                                 python_string(stored.entry, '`'), elements, list_text(dims))};
    }
    layout.count = *count;
    int64_t last = layout.first;
    bool is_beyond = false;
    for (size_t i = 0; i < dims.size() && *count > 0; ++i) {
        int64_t step = 0;
        is_beyond = is_beyond || __builtin_mul_overflow(dims[i] - 1, strides[i], &step) ||
                    __builtin_add_overflow(last, step, &last);
    }
    if (*count > 0 && (is_beyond || last >= elements)) {
        return Error{fmt::format("{} has {} elements, and its tensor needs {}",
                                 python_string(stored.entry, '`'), elements,
                                 is_beyond ? "more than there can be" : std::to_string(last + 1))};
    }
    return layout;
}

}  // namespace

std::string_view element_type_name(int64_t number) {
    const TypeRow* row = type_row(number);
    return row != nullptr && !row->is_complex ? name(row->type) : std::string_view();
}

std::string_view complex_part_name(int64_t number) {
    const TypeRow* row = type_row(number);
    return row != nullptr && row->is_complex ? name(row->type) : std::string_view();
}

Result<Archive> Archive::open(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    std::optional<std::vector<ZipEntry>> entries = read_zip(bytes);
    if (!entries) {
        return Error{"not a .pt2 file: it is no ZIP archive, or is damaged"};
    }
    Archive archive;
    archive.owner_ = std::move(owner);
    for (ZipEntry& one : *entries) {
        size_t slash = one.name.find('/');
        std::string below = slash == std::string::npos ? "" : one.name.substr(slash + 1);
        constexpr std::string_view kModels = "models/";
        bool is_new = archive.entries_.emplace(below, std::move(one)).second;
        if (is_new && below.substr(0, kModels.size()) == kModels) {
            archive.models_.push_back(below);
        }
    }
    return archive;
}

Result<std::string_view> Archive::text_of(const std::string& name) const {
    auto found = entries_.find(name);
    if (found == entries_.end()) {
        return Error{fmt::format("{} is missing in the file", python_string(name, '`'))};
    }
    const ZipEntry& entry = found->second;
    if (entry.method != kZipStored || entry.is_encrypted) {
        return Error{fmt::format("{} is compressed or encrypted, which torch does not do",
                                 python_string(name, '`'))};
    }
    return std::string_view(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
}

Result<JsonValue> Archive::json_of(const std::string& name) {
    SDX_ASSIGN(std::string_view text, text_of(name));
    Result<JsonDocument> document = JsonDocument::parse(text);
    if (!document.ok()) {
        return Error{fmt::format("{} is not valid JSON: {}", python_string(name, '`'),
                                 document.error().message)};
    }
    documents_.push_back(std::make_unique<JsonDocument>(std::move(*document)));
    JsonValue root = documents_.back()->root();
    if (!root.is_object()) {
        return Error{fmt::format("{} does not contain an object", python_string(name, '`'))};
    }
    return root;
}

Result<JsonValue> Archive::model() {
    if (entries_.count("byteorder") != 0) {
        SDX_ASSIGN(std::string_view order, text_of("byteorder"));
        if (order != "little") {
            return Error{"its numbers are big-endian"};
        }
    }
    if (models_.size() != 1) {
        return Error{fmt::format("{} models in the file, where one is expected", models_.size())};
    }
    SDX_ASSIGN(JsonValue found, json_of(models_[0]));
    JsonValue major = found["schema_version"]["major"];
    if (major.integer() != kSchema) {
        return Error{fmt::format("schema version {}, and {} is read: save it with torch 2.13",
                                 major ? major.source().substr(0, 20) : "none", kSchema)};
    }
    return found;
}

Result<void> Archive::read_tensors(std::string_view folder, std::string_view kind,
                                   std::unordered_map<std::string, StoredTensor>& found) {
    std::string name = fmt::format("data/{}/model_{}_config.json", folder, kind);
    if (entries_.count(name) == 0) {
        return {};
    }
    SDX_ASSIGN(JsonValue root, json_of(name));
    JsonValue config = root["config"];
    if (!config.is_object()) {
        return Error{fmt::format("{} has no config", python_string(name, '`'))};
    }
    for (auto& [key, one] : config.members()) {
        std::optional<std::string> path = one["path_name"].text();
        if (!path) {
            return Error{fmt::format("{} in {} has no path", python_string(key, '`'),
                                     python_string(name, '`'))};
        }
        // Whatever is not a plain `false`.
        JsonValue pickle = one["use_pickle"];
        bool is_pickled = pickle.exists() && pickle.boolean() != false;
        found[key] = {one["tensor_meta"], is_pickled, fmt::format("data/{}/{}", folder, *path)};
    }
    return {};
}

Result<Tensor> Archive::tensor(const StoredTensor& stored) {
    if (!stored.meta.is_object()) {
        return Error{fmt::format("{} is not described", python_string(stored.entry, '`'))};
    }
    SDX_ASSIGN(int64_t number, whole_number(stored.meta["dtype"]));
    const TypeRow* row = type_row(number);
    if (row == nullptr) {
        return Error{fmt::format("element type {} has no equivalent in ONNX", number)};
    }
    SDX_ASSIGN(std::string_view text, text_of(stored.entry));
    size_t width = byte_size(row->type, row->is_complex ? 2 : 1);
    Result<Layout> layout = read_layout(stored, static_cast<int64_t>(text.size() / width));
    SDX_TRY(layout);
    Dims shape = layout->dims;
    if (row->is_complex) {
        shape.push_back(2);
    }
    size_t size = static_cast<size_t>(layout->count) * width;
    if (layout->count == 0) {
        return Tensor::zeros(row->type, std::move(shape));
    }
    std::span<const std::byte> storage(reinterpret_cast<const std::byte*>(text.data()),
                                       text.size());
    std::span<const std::byte> from = storage.subspan(static_cast<size_t>(layout->first) * width);
    if (is_contiguous(layout->dims, layout->strides)) {
        return Tensor::view_of(row->type, std::move(shape), from.subspan(0, size), owner_);
    }
    copied_ += size;
    if (copied_ > kMostCopied) {
        return Error{fmt::format("{}: its tensors repeat or reorder more than {} bytes",
                                 python_string(stored.entry, '`'), kMostCopied)};
    }
    Tensor tensor = Tensor::uninitialized(row->type, std::move(shape));
    std::byte* to = tensor.mutable_bytes().data();
    gather(from.data(), to, width, layout->dims, layout->strides);
    return row->type != ElementType::kBool
               ? tensor
               : Tensor::view_of(row->type, tensor.dims(), tensor.bytes(), tensor.owner());
}

}  // namespace sardonyx::torch
