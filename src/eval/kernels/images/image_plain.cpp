// The image formats that are little more than rows of numbers: BMP and PNM.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "eval/kernels/images/image.h"

namespace sardonyx::eval {
namespace {

// --- BMP: "Bitmap Storage" of the Windows documentation; a file header of 14 bytes, then an
// information header that begins with its own size.

// A little-endian number; 0 beyond the end, as the callers check sizes by their meaning.
uint32_t little_endian(ImageBytes file, size_t at, size_t bytes) {
    uint32_t value = 0;
    for (size_t i = 0; i < bytes && at + i < file.size(); ++i) {
        value |= uint32_t{file[at + i]} << (8 * i);
    }
    return value;
}

enum class Compression : uint8_t { kNone = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3 };

struct Bitmap {
    ImageBytes file;
    int64_t width = 0;
    int64_t height = 0;
    bool from_top = false;
    uint32_t bits = 0;  // of a pixel
    Compression compression = Compression::kNone;
    size_t palette = 0;  // where it begins,
    size_t colour_bytes = 4;
    size_t colours = 0;
    std::array<uint32_t, 3> masks{};  // red, green, blue; for 16 and 32 bits
    size_t pixels = 0;                // where they begin
};

constexpr size_t kFileHeader = 14;
constexpr uint32_t kCoreHeader = 12;  // the one of OS/2
constexpr uint32_t kInfoHeader = 40;

std::optional<Bitmap> read_bitmap_header(ImageBytes file) {
    if (file.size() < kFileHeader + kCoreHeader) {
        return std::nullopt;
    }
    Bitmap b;
    b.file = file;
    b.pixels = little_endian(file, 10, 4);
    uint32_t header = little_endian(file, kFileHeader, 4);
    if (header == kCoreHeader) {
        b.width = little_endian(file, 18, 2);
        b.height = little_endian(file, 20, 2);
        b.bits = little_endian(file, 24, 2);
        b.colour_bytes = 3;
    } else if (header >= kInfoHeader && file.size() >= kFileHeader + kInfoHeader) {
        b.width = static_cast<int32_t>(little_endian(file, 18, 4));
        b.height = static_cast<int32_t>(little_endian(file, 22, 4));
        b.bits = little_endian(file, 28, 2);
        uint32_t compression = little_endian(file, 30, 4);
        if (compression > static_cast<uint32_t>(Compression::kMasks)) {
            return std::nullopt;
        }
        b.compression = static_cast<Compression>(compression);
        b.colours = little_endian(file, 46, 4);
    } else {
        return std::nullopt;
    }
    b.from_top = b.height < 0;
    b.height = b.from_top ? -b.height : b.height;
    b.palette = kFileHeader + header;
    if (b.bits == 16) {
        b.masks = {0x7c00, 0x03e0, 0x001f};
    } else {
        b.masks = {0xff0000, 0x00ff00, 0x0000ff};
    }
    if (b.compression == Compression::kMasks) {
        for (size_t i = 0; i < 3; ++i) {
            b.masks[i] = little_endian(file, kFileHeader + kInfoHeader + 4 * i, 4);
        }
    }
    if (b.bits <= 8 && (b.colours == 0 || b.colours > 256)) {
        b.colours = size_t{1} << b.bits;
    }
    return b;
}

void put_colour(const Bitmap& b, uint32_t index, uint8_t* rgb) {
    size_t at = b.palette + index * b.colour_bytes;
    if (index < b.colours && at + 3 <= b.file.size()) {
        std::reverse_copy(b.file.begin() + static_cast<std::ptrdiff_t>(at),
                          b.file.begin() + static_cast<std::ptrdiff_t>(at + 3), rgb);
    }
}

// The bits of a mask, stretched to 0..255.
uint8_t masked(uint32_t pixel, uint32_t mask) {
    if (mask == 0) {
        return 0;
    }
    int shift = std::countr_zero(mask);
    uint64_t most = mask >> shift;
    return static_cast<uint8_t>((uint64_t{(pixel & mask) >> shift} * 255 + most / 2) / most);
}

void put_pixel(const Bitmap& b, size_t row, int64_t column, uint8_t* rgb) {
    auto x = static_cast<size_t>(column);
    if (b.bits <= 8) {
        uint32_t byte = b.file[row + x * b.bits / 8];
        uint32_t shift = 8 - b.bits - static_cast<uint32_t>(x * b.bits % 8);
        put_colour(b, (byte >> shift) & ((1U << b.bits) - 1), rgb);
        return;
    }
    uint32_t pixel = little_endian(b.file, row + x * b.bits / 8, b.bits / 8);
    for (size_t channel = 0; channel < 3; ++channel) {
        rgb[channel] = masked(pixel, b.masks[channel]);
    }
}

// Runs of one colour (8 bits) or of two that alternate (4 bits), and escapes: 0 ends a row, 1 the
// picture, 2 moves on, and n > 2 is followed by n pixels, padded to 16 bits.
bool read_runs(const Bitmap& b, Image& image) {
    int64_t row = image.height - 1;
    int64_t column = 0;
    size_t at = b.pixels;
    auto put = [&](uint32_t index) {
        if (row >= 0 && column < image.width) {
            put_colour(b, index, image.pixel(row, column));
        }
        ++column;
    };
    while (at + 2 <= b.file.size() && row >= 0) {
        uint32_t count = b.file[at];
        uint32_t value = b.file[at + 1];
        at += 2;
        if (count > 0) {
            for (uint32_t i = 0; i < count; ++i) {
                put(b.bits == 8 ? value : (value >> (i % 2 == 0 ? 4 : 0)) & 15);
            }
        } else if (value == 0) {
            --row;
            column = 0;
        } else if (value == 1) {
            return true;
        } else if (value == 2) {
            column += little_endian(b.file, at, 1);
            row -= little_endian(b.file, at + 1, 1);
            at += 2;
        } else {
            size_t bytes = (value * b.bits + 7) / 8;
            if (at + bytes > b.file.size()) {
                return false;
            }
            for (uint32_t i = 0; i < value; ++i) {
                uint32_t byte = b.file[at + i * b.bits / 8];
                put(b.bits == 8 ? byte : (byte >> (i % 2 == 0 ? 4 : 0)) & 15);
            }
            at += (bytes + 1) / 2 * 2;
        }
    }
    return true;
}

// --- PNM: netpbm's pbm(5), pgm(5), ppm(5).

struct PnmCursor {
    ImageBytes file;
    size_t at;

    bool at_end() const { return at >= file.size(); }

    void skip_space() {
        while (!at_end()) {
            if (file[at] == '#') {
                while (!at_end() && file[at] != '\n') {
                    ++at;
                }
            } else if (std::string_view(" \t\r\n\v\f").find(static_cast<char>(file[at])) !=
                       std::string_view::npos) {
                ++at;
            } else {
                return;
            }
        }
    }

    // At most `digits` digits: 1 for the pixels of plain PBM, which need no space between them.
    std::optional<int64_t> number(int digits = 9) {
        skip_space();
        int64_t value = 0;
        int seen = 0;
        for (; !at_end() && seen < digits && file[at] >= '0' && file[at] <= '9'; ++at, ++seen) {
            value = value * 10 + (file[at] - '0');
        }
        return seen == 0 ? std::nullopt : std::optional(value);
    }

    // One or two bytes, big endian.
    std::optional<int64_t> sample(int64_t most) {
        size_t bytes = most > 255 ? 2 : 1;
        if (at + bytes > file.size()) {
            return std::nullopt;
        }
        int64_t value = bytes == 2 ? file[at] * 256 + file[at + 1] : file[at];
        at += bytes;
        return value;
    }
};

// Rows of bits, padded to bytes; 1 is black.
bool read_bits(PnmCursor& cursor, Image& image) {
    size_t stride = static_cast<size_t>(image.width + 7) / 8;
    if ((cursor.file.size() - cursor.at) / stride < static_cast<size_t>(image.height)) {
        return false;
    }
    for (int64_t row = 0; row < image.height; ++row) {
        for (int64_t column = 0; column < image.width; ++column) {
            size_t byte =
                cursor.at + static_cast<size_t>(row) * stride + static_cast<size_t>(column) / 8;
            bool black = ((cursor.file[byte] >> (7 - column % 8)) & 1) != 0;
            std::fill_n(image.pixel(row, column), 3, static_cast<uint8_t>(black ? 0 : 255));
        }
    }
    return true;
}

}  // namespace

std::optional<Image> read_bmp(ImageBytes file, const ImageLimits& limits) {
    std::optional<Bitmap> header = read_bitmap_header(file);
    if (!header.has_value()) {
        return std::nullopt;
    }
    const Bitmap& b = *header;
    bool runs = b.compression == Compression::kRuns8 || b.compression == Compression::kRuns4;
    constexpr uint32_t kBits[] = {1, 4, 8, 16, 24, 32};
    if (std::find(std::begin(kBits), std::end(kBits), b.bits) == std::end(kBits) ||
        (runs && b.bits != (b.compression == Compression::kRuns8 ? 8U : 4U))) {
        return std::nullopt;
    }
    std::optional<Image> image = make_image(b.height, b.width, limits);
    if (!image.has_value()) {
        return std::nullopt;
    }
    if (runs) {
        return read_runs(b, *image) ? image : std::nullopt;
    }
    size_t stride = (static_cast<size_t>(b.width) * b.bits + 31) / 32 * 4;
    if (b.pixels > file.size() ||
        (file.size() - b.pixels) / stride < static_cast<size_t>(b.height)) {
        return std::nullopt;
    }
    for (int64_t row = 0; row < b.height; ++row) {
        int64_t stored = b.from_top ? row : b.height - 1 - row;
        for (int64_t column = 0; column < b.width; ++column) {
            put_pixel(b, b.pixels + static_cast<size_t>(stored) * stride, column,
                      image->pixel(row, column));
        }
    }
    return image;
}

std::optional<Image> read_pnm(ImageBytes file, const ImageLimits& limits) {
    char kind = static_cast<char>(file[1]);
    bool plain = kind <= '3';
    bool bitmap = kind == '1' || kind == '4';
    bool colour = kind == '3' || kind == '6';
    PnmCursor cursor{file, 2};
    auto width = cursor.number();
    auto height = cursor.number();
    auto most = bitmap ? std::optional<int64_t>(1) : cursor.number();
    if (!width || !height || !most || *most <= 0 || *most > 65535) {
        return std::nullopt;
    }
    ++cursor.at;  // the one space that ends the header
    std::optional<Image> image = make_image(*height, *width, limits);
    if (!image.has_value() || cursor.at > file.size()) {
        return std::nullopt;
    }
    if (kind == '4') {
        return read_bits(cursor, *image) ? image : std::nullopt;
    }
    for (size_t i = 0; i < image->pixels.size(); i += colour ? 1 : 3) {
        auto sample = plain ? cursor.number(bitmap ? 1 : 9) : cursor.sample(*most);
        if (!sample) {
            return std::nullopt;
        }
        int64_t value = bitmap ? 1 - std::min<int64_t>(*sample, 1) : std::min(*sample, *most);
        std::fill_n(image->pixels.data() + i, colour ? 1 : 3,
                    static_cast<uint8_t>((value * 255 + *most / 2) / *most));
    }
    return image;
}

}  // namespace sardonyx::eval
