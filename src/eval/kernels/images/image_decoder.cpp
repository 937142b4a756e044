// ImageDecoder: the format by its signature, then a decoder of that format, then the pixel format.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "eval/kernels/images/image.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

std::optional<Image> make_image(int64_t height, int64_t width, const ImageLimits& limits) {
    constexpr int64_t kMaxSide = int64_t{1} << 24;
    if (height <= 0 || width <= 0 || height > kMaxSide || width > kMaxSide ||
        height * width * 3 > limits.max_bytes) {
        return std::nullopt;
    }
    return Image{height, width, std::vector<uint8_t>(static_cast<size_t>(height * width * 3))};
}

namespace kernels {
namespace {

ImageReader bmp_reader() {
    return read_bmp;
}
ImageReader pnm_reader() {
    return read_pnm;
}

struct Format {
    std::string_view name;
    // The file has this text at this place.
    std::string_view signature;
    size_t place;
    ImageReader (*reader)();
    std::string_view library;
};

using namespace std::string_view_literals;

constexpr Format kFormats[] = {
    {"BMP", "BM"sv, 0, bmp_reader, ""},
    {"PNM", "P1"sv, 0, pnm_reader, ""},
    {"PNM", "P2"sv, 0, pnm_reader, ""},
    {"PNM", "P3"sv, 0, pnm_reader, ""},
    {"PNM", "P4"sv, 0, pnm_reader, ""},
    {"PNM", "P5"sv, 0, pnm_reader, ""},
    {"PNM", "P6"sv, 0, pnm_reader, ""},
    {"JPEG", "\xff\xd8\xff"sv, 0, jpeg_reader, "libturbojpeg"},
    {"JPEG2000", "jP  \r\n\x87\n"sv, 4, jpeg2000_reader, "libopenjp2"},
    {"JPEG2000", "\xff\x4f\xff\x51"sv, 0, jpeg2000_reader, "libopenjp2"},
    {"PNG", "\x89PNG\r\n\x1a\n"sv, 0, png_reader, "libpng"},
    {"TIFF", "II*\0"sv, 0, tiff_reader, "libtiff"},
    {"TIFF", "MM\0*"sv, 0, tiff_reader, "libtiff"},
    {"WebP", "WEBP"sv, 8, webp_reader, "libwebp"},
};

const Format* find_format(ImageBytes file) {
    std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    for (const Format& format : kFormats) {
        if (text.size() >= format.place &&
            text.substr(format.place).starts_with(format.signature)) {
            return &format;
        }
    }
    return nullptr;
}

// ITU-R BT.601, in 16-bit fixed point.
uint8_t luma(const uint8_t* rgb) {
    return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

}  // namespace

Status image_decoder(KernelContext& c) {
    std::string_view pixel_format = c.string_attribute("pixel_format");
    bool grey = pixel_format == "Grayscale";
    if (!grey && pixel_format != "RGB" && pixel_format != "BGR") {
        return Error{
            fmt::format("pixel_format is `{}`: it must be RGB, BGR or Grayscale", pixel_format)};
    }
    ImageBytes file = c.tensor(0).elements<uint8_t>();
    std::optional<Image> image;
    if (const Format* format = find_format(file)) {
        ImageReader read = format->reader();
        if (read == nullptr) {
            return Error{
                fmt::format("{} images need {}, which was not found: install it, and its "
                            "header before building",
                            format->name, format->library)};
        }
        image = read(file, ImageLimits{c.options().max_bytes});
    }
    // The standard: what cannot be decoded gives an empty matrix.
    int64_t channels = grey ? 1 : 3;
    if (!image.has_value()) {
        image.emplace();
    }
    SDX_ASSIGN(Tensor * out,
               c.output(0, ElementType::kUint8, {image->height, image->width, channels}));
    uint8_t* to = out->mutable_elements<uint8_t>().data();
    const uint8_t* from = image->pixels.data();
    const uint8_t* end = from + image->pixels.size();
    if (grey) {
        for (; from < end; from += 3) {
            *to++ = luma(from);
        }
        return {};
    }
    std::copy(from, end, to);
    if (pixel_format == "BGR") {
        for (; from < end; from += 3, to += 3) {
            std::swap(to[0], to[2]);
        }
    }
    return {};
}

}  // namespace kernels
}  // namespace sardonyx::eval
