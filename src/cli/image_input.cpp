#include "cli/image_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "base/file.h"
#include "eval/eager.h"

namespace sardonyx::cli {

using eval::RuntimeValue;

namespace {

constexpr size_t kMostBytes = size_t{1} << 28;

// Where an input has the axes of a picture.
struct Layout {
    bool has_batch = false;
    bool channels_first = false;
    bool is_grey = false;
    std::optional<int64_t> height, width;
};

std::optional<int64_t> size_of(const Dim& dim) {
    return dim.is_static() ? std::optional<int64_t>(dim.value()) : std::nullopt;
}

bool is_channels(const Dim& dim) {
    return dim.is_static() && (dim.value() == 1 || dim.value() == 3);
}

Result<Layout> layout_of(const Type& declared) {
    Layout layout;
    if (!declared.is_tensor() || !declared.has_shape()) {
        return layout;
    }
    std::vector<Dim> dims(declared.shape().begin(), declared.shape().end());
    layout.has_batch = dims.size() == 4;
    if (layout.has_batch && (!dims[0].is_static() || dims[0].value() == 1)) {
        dims.erase(dims.begin());
    }
    if (dims.size() != 3 || is_channels(dims[0]) == is_channels(dims[2])) {
        return Error{
            fmt::format("`{}` is not the type of a picture; a picture is [height, width, 3] "
                        "or [3, height, width], with 1 for grey, or one of these after a batch "
                        "of 1; give a .npy file",
                        declared.to_string())};
    }
    layout.channels_first = is_channels(dims[0]);
    layout.is_grey = dims[layout.channels_first ? 0 : 2].value() == 1;
    layout.height = size_of(dims[layout.channels_first ? 1 : 0]);
    layout.width = size_of(dims[layout.channels_first ? 2 : 1]);
    return layout;
}

// [height, width, channels] of UINT8, as the operator ImageDecoder reads it.
Result<Tensor> decode(const Tensor& file, bool is_grey) {
    constexpr int64_t kOpset = 20;
    const eval::OperatorEntry* entry = eval::find_operator("", "ImageDecoder", kOpset);
    RuntimeValue bytes(file);
    const RuntimeValue* inputs[] = {&bytes};
    ir::Attribute format =
        ir::make_attribute("pixel_format", std::string(is_grey ? "Grayscale" : "RGB"));
    auto outputs = eval::run_operator(*entry, kOpset, inputs, std::span(&format, 1), 1);
    SDX_TRY(outputs);
    Tensor picture = outputs->front().tensor();
    if (picture.count() == 0) {
        return Error{"the file is damaged, or no picture of a known format"};
    }
    return picture;
}

// The elements in the order and of the type that are declared.
Result<Tensor> arranged(const Tensor& picture, const Layout& layout, ElementType type) {
    int64_t height = picture.dims()[0], width = picture.dims()[1], channels = picture.dims()[2];
    std::span<const uint8_t> pixels = picture.elements<uint8_t>();
    std::vector<double> values(pixels.size());
    double scale = is_floating(type) ? 1.0 / 255 : 1.0;
    int64_t places = height * width;
    for (int64_t i = 0; i < places; ++i) {
        for (int64_t c = 0; c < channels; ++c) {
            int64_t to = layout.channels_first ? c * places + i : i * channels + c;
            values[static_cast<size_t>(to)] = pixels[static_cast<size_t>(i * channels + c)] * scale;
        }
    }
    Dims dims{height, width, channels};
    if (layout.channels_first) {
        std::rotate(dims.begin(), dims.begin() + 2, dims.end());
    }
    if (layout.has_batch) {
        dims.insert(dims.begin(), 1);
    }
    if (is_floating(type)) {
        return tensor_from_doubles(type, std::move(dims), values);
    }
    std::vector<int64_t> whole(values.begin(), values.end());
    return tensor_from_int64s(type, std::move(dims), whole);
}

}  // namespace

bool is_image_file(const std::string& path) {
    constexpr std::string_view kEnds[] = {".png",  ".jpg", ".jpeg", ".bmp", ".webp", ".tif",
                                          ".tiff", ".jp2", ".ppm",  ".pgm", ".pnm"};
    std::string low = path.substr(path.size() - std::min<size_t>(path.size(), 5));
    std::transform(low.begin(), low.end(), low.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::any_of(std::begin(kEnds), std::end(kEnds),
                       [&](std::string_view end) { return std::string_view(low).ends_with(end); });
}

Result<RuntimeValue> read_image(const std::string& path, const Type& declared) {
    Result<std::string> bytes = read_file(path, kMostBytes);
    SDX_TRY(bytes);
    std::vector<int64_t> codes(bytes->size());
    std::transform(bytes->begin(), bytes->end(), codes.begin(),
                   [](char c) { return static_cast<unsigned char>(c); });
    SDX_ASSIGN(Tensor file, tensor_from_int64s(ElementType::kUint8,
                                               {static_cast<int64_t>(codes.size())}, codes));
    ElementType type = declared.is_tensor() ? declared.element_type() : ElementType::kUndefined;
    type = type == ElementType::kUndefined ? ElementType::kUint8 : type;
    if (!is_integer(type) && !is_floating(type)) {
        return Error{fmt::format("a picture is not a `{}`", declared.to_string())};
    }
    bool is_vector = declared.is_tensor() && declared.has_shape() && declared.shape().size() == 1;
    if (is_vector && type == ElementType::kUint8) {
        return RuntimeValue(std::move(file));
    }
    SDX_ASSIGN(Layout layout, layout_of(declared));
    SDX_ASSIGN(Tensor picture, decode(file, layout.is_grey));
    int64_t height = picture.dims()[0], width = picture.dims()[1];
    if (layout.height.value_or(height) != height || layout.width.value_or(width) != width) {
        return Error{
            fmt::format("the picture is {} high and {} wide, which does not fit `{}`; resize it",
                        height, width, declared.to_string())};
    }
    SDX_ASSIGN(Tensor result, arranged(picture, layout, type));
    return RuntimeValue(std::move(result));
}

}  // namespace sardonyx::cli
