// Decoders of image files, for ImageDecoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sardonyx::eval {

// Pixels in rows from the top, each three bytes: red, green, blue of 0..255. Transparency is
// dropped, grey is repeated.
struct Image {
    int64_t height = 0;
    int64_t width = 0;
    std::vector<uint8_t> pixels;

    uint8_t* pixel(int64_t row, int64_t column) {
        return pixels.data() + (row * width + column) * 3;
    }
};

using ImageBytes = std::span<const uint8_t>;

// What a decoder must not exceed: files of a few bytes can claim any size.
struct ImageLimits {
    int64_t max_bytes;
};

// A black image; nothing where the size is not positive or its pixels exceed the limit.
std::optional<Image> make_image(int64_t height, int64_t width, const ImageLimits& limits);

// Nothing for a file that is damaged, or beyond the limit. The caller has seen the signature.
using ImageReader = std::optional<Image> (*)(ImageBytes, const ImageLimits&);

std::optional<Image> read_bmp(ImageBytes file, const ImageLimits& limits);
std::optional<Image> read_pnm(ImageBytes file, const ImageLimits& limits);

// The others take a library of the system: null where the build or this machine has none.
ImageReader jpeg_reader();
ImageReader jpeg2000_reader();
ImageReader png_reader();
ImageReader tiff_reader();
ImageReader webp_reader();

}  // namespace sardonyx::eval
