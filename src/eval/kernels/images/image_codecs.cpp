// The image formats that are left to libraries of the system. Their headers are used where they are
// there when this is compiled; the libraries are loaded when the first image of the format is read,
// so that nobody who reads none needs or waits for them.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/shared_library.h"
#include "eval/kernels/images/image.h"

#if __has_include(<turbojpeg.h>)
#include <turbojpeg.h>
#define SDX_HAS_JPEG 1
#endif
#if __has_include(<openjpeg-2.5/openjpeg.h>)
#include <openjpeg-2.5/openjpeg.h>
#define SDX_HAS_JPEG2000 1
#endif
#if __has_include(<png.h>)
#include <png.h>
#define SDX_HAS_PNG 1
#endif
#if __has_include(<tiffio.h>)
#include <tiffio.h>
#define SDX_HAS_TIFF 1
#endif
#if __has_include(<webp/decode.h>)
#include <webp/decode.h>
#define SDX_HAS_WEBP 1
#endif

namespace sardonyx::eval {

// --- JPEG: libjpeg-turbo, whose upsampling is the one that the operator asks for.

#ifdef SDX_HAS_JPEG
namespace {

const SharedLibrary& turbojpeg() {
    static const SharedLibrary library("libturbojpeg.so.0");
    return library;
}

// Four inks, stored inverted as Adobe does: all 255 is white.
void from_cmyk(const uint8_t* inks, Image& image) {
    for (size_t i = 0; i < image.pixels.size(); i += 3, inks += 4) {
        for (size_t channel = 0; channel < 3; ++channel) {
            image.pixels[i + channel] = static_cast<uint8_t>((inks[channel] * inks[3] + 127) / 255);
        }
    }
}

std::optional<Image> read_jpeg(ImageBytes file, const ImageLimits& limits) {
    LibraryFunction<decltype(&tjInitDecompress)> init(turbojpeg(), "tjInitDecompress");
    LibraryFunction<decltype(&tjDestroy)> destroy(turbojpeg(), "tjDestroy");
    LibraryFunction<decltype(&tjDecompressHeader3)> header(turbojpeg(), "tjDecompressHeader3");
    LibraryFunction<decltype(&tjDecompress2)> decompress(turbojpeg(), "tjDecompress2");
    if (!init || !destroy || !header || !decompress) {
        return std::nullopt;
    }
    tjhandle decoder = init();
    int width = 0, height = 0, subsampling = 0, colours = 0;
    std::optional<Image> image;
    if (header(decoder, file.data(), file.size(), &width, &height, &subsampling, &colours) == 0) {
        image = make_image(height, width, limits);
    }
    if (image.has_value()) {
        bool inks = colours == TJCS_CMYK || colours == TJCS_YCCK;
        std::vector<uint8_t> four(inks ? image->pixels.size() / 3 * 4 : 0);
        // A warning, such as for a file that ends early, is -1 too.
        int status =
            decompress(decoder, file.data(), file.size(), inks ? four.data() : image->pixels.data(),
                       width, 0, height, inks ? TJPF_CMYK : TJPF_RGB, 0);
        if (status != 0) {
            image.reset();
        } else if (inks) {
            from_cmyk(four.data(), *image);
        }
    }
    destroy(decoder);
    return image;
}

}  // namespace

ImageReader jpeg_reader() {
    return turbojpeg().is_loaded() ? read_jpeg : nullptr;
}
#else
ImageReader jpeg_reader() {
    return nullptr;
}
#endif

// --- JPEG2000: OpenJPEG.

#ifdef SDX_HAS_JPEG2000
namespace {

const SharedLibrary& openjpeg() {
    static const SharedLibrary library("libopenjp2.so.7");
    return library;
}

struct ByteStream {
    ImageBytes file;
    size_t at = 0;
};

OPJ_SIZE_T read_stream(void* buffer, OPJ_SIZE_T count, void* user) {
    auto& stream = *static_cast<ByteStream*>(user);
    size_t given = std::min<size_t>(count, stream.file.size() - stream.at);
    if (given == 0) {
        return static_cast<OPJ_SIZE_T>(-1);  // the end
    }
    std::memcpy(buffer, stream.file.data() + stream.at, given);
    stream.at += given;
    return given;
}

OPJ_OFF_T skip_stream(OPJ_OFF_T count, void* user) {
    auto& stream = *static_cast<ByteStream*>(user);
    auto left = static_cast<OPJ_OFF_T>(stream.file.size() - stream.at);
    OPJ_OFF_T given = std::clamp<OPJ_OFF_T>(count, 0, left);
    stream.at += static_cast<size_t>(given);
    return given;
}

OPJ_BOOL seek_stream(OPJ_OFF_T place, void* user) {
    auto& stream = *static_cast<ByteStream*>(user);
    if (place < 0 || static_cast<size_t>(place) > stream.file.size()) {
        return OPJ_FALSE;
    }
    stream.at = static_cast<size_t>(place);
    return OPJ_TRUE;
}

// The sample of a component at a pixel, as 0..255; components may be sampled more coarsely.
uint8_t component_sample(const opj_image_comp_t& component, int64_t row, int64_t column) {
    int64_t y = std::min<int64_t>(row / component.dy, component.h - 1);
    int64_t x = std::min<int64_t>(column / component.dx, component.w - 1);
    int64_t value = component.data[y * component.w + x];
    if (component.sgnd != 0) {
        value += int64_t{1} << (component.prec - 1);
    }
    int64_t most = (int64_t{1} << component.prec) - 1;
    return static_cast<uint8_t>(std::clamp<int64_t>((value * 255 + most / 2) / most, 0, 255));
}

bool is_usable(const opj_image_comp_t& component) {
    return component.data != nullptr && component.w > 0 && component.h > 0 && component.dx > 0 &&
           component.dy > 0 && component.prec > 0 && component.prec <= 31;
}

// BT.601 with the full range.
std::array<uint8_t, 3> from_ycc(const uint8_t* ycc) {
    auto round = [](double value) {
        return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
    };
    double y = ycc[0], blue = ycc[1] - 128.0, red = ycc[2] - 128.0;
    return {round(y + 1.402 * red), round(y - 0.344136 * blue - 0.714136 * red),
            round(y + 1.772 * blue)};
}

std::optional<Image> image_of(const opj_image_t& decoded, const ImageLimits& limits) {
    for (OPJ_UINT32 i = 0; i < decoded.numcomps; ++i) {
        if (!is_usable(decoded.comps[i])) {
            return std::nullopt;
        }
    }
    if (decoded.numcomps == 0) {
        return std::nullopt;
    }
    std::optional<Image> image =
        make_image(int64_t{decoded.y1} - decoded.y0, int64_t{decoded.x1} - decoded.x0, limits);
    bool grey = decoded.numcomps < 3;
    bool ycc = !grey && decoded.color_space == OPJ_CLRSPC_SYCC;
    for (int64_t row = 0; image.has_value() && row < image->height; ++row) {
        for (int64_t column = 0; column < image->width; ++column) {
            uint8_t* rgb = image->pixel(row, column);
            for (size_t channel = 0; channel < 3; ++channel) {
                rgb[channel] = component_sample(decoded.comps[grey ? 0 : channel], row, column);
            }
            if (ycc) {
                std::array<uint8_t, 3> converted = from_ycc(rgb);
                std::copy(converted.begin(), converted.end(), rgb);
            }
        }
    }
    return image;
}

std::optional<Image> read_jpeg2000(ImageBytes file, const ImageLimits& limits) {
#define SDX_OPENJPEG(name) LibraryFunction<decltype(&opj_##name)> name(openjpeg(), "opj_" #name)
    SDX_OPENJPEG(create_decompress);
    SDX_OPENJPEG(set_default_decoder_parameters);
    SDX_OPENJPEG(setup_decoder);
    SDX_OPENJPEG(stream_create);
    SDX_OPENJPEG(stream_set_user_data);
    SDX_OPENJPEG(stream_set_user_data_length);
    SDX_OPENJPEG(stream_set_read_function);
    SDX_OPENJPEG(stream_set_skip_function);
    SDX_OPENJPEG(stream_set_seek_function);
    SDX_OPENJPEG(read_header);
    SDX_OPENJPEG(decode);
    SDX_OPENJPEG(image_destroy);
    SDX_OPENJPEG(stream_destroy);
    SDX_OPENJPEG(destroy_codec);
#undef SDX_OPENJPEG
    constexpr size_t kBuffer = 1 << 16;
    ByteStream bytes{file};
    opj_stream_t* stream = stream_create(kBuffer, OPJ_TRUE);
    stream_set_user_data(stream, &bytes, nullptr);
    stream_set_user_data_length(stream, file.size());
    stream_set_read_function(stream, read_stream);
    stream_set_skip_function(stream, skip_stream);
    stream_set_seek_function(stream, seek_stream);
    bool boxed = file.size() > 4 && file[4] == 'j';
    opj_codec_t* codec = create_decompress(boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    opj_dparameters_t parameters;
    set_default_decoder_parameters(&parameters);
    opj_image_t* decoded = nullptr;
    std::optional<Image> image;
    if (setup_decoder(codec, &parameters) != OPJ_FALSE &&
        read_header(stream, codec, &decoded) != OPJ_FALSE &&
        // Before the pixels are allocated.
        make_image(int64_t{decoded->y1} - decoded->y0, int64_t{decoded->x1} - decoded->x0, limits)
            .has_value() &&
        decode(codec, stream, decoded) != OPJ_FALSE) {
        image = image_of(*decoded, limits);
    }
    if (decoded != nullptr) {
        image_destroy(decoded);
    }
    stream_destroy(stream);
    destroy_codec(codec);
    return image;
}

}  // namespace

ImageReader jpeg2000_reader() {
    return openjpeg().is_loaded() ? read_jpeg2000 : nullptr;
}
#else
ImageReader jpeg2000_reader() {
    return nullptr;
}
#endif

// --- PNG: the simplified interface of libpng.

#ifdef SDX_HAS_PNG
namespace {

const SharedLibrary& libpng() {
    static const SharedLibrary library("libpng16.so.16");
    return library;
}

// Drops the fourth channel.
void from_rgba(const uint8_t* rgba, Image& image) {
    for (size_t i = 0; i < image.pixels.size(); i += 3, rgba += 4) {
        std::copy_n(rgba, 3, image.pixels.data() + i);
    }
}

std::optional<Image> read_png(ImageBytes file, const ImageLimits& limits) {
    LibraryFunction<decltype(&png_image_begin_read_from_memory)> begin(
        libpng(), "png_image_begin_read_from_memory");
    LibraryFunction<decltype(&png_image_finish_read)> finish(libpng(), "png_image_finish_read");
    LibraryFunction<decltype(&png_image_free)> release(libpng(), "png_image_free");
    if (!begin || !finish || !release) {
        return std::nullopt;
    }
    png_image reader{};
    reader.version = PNG_IMAGE_VERSION;
    std::optional<Image> image;
    if (begin(&reader, file.data(), file.size()) != 0) {
        // Without this, 16 bits would be taken as linear light.
        reader.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
        reader.format = PNG_FORMAT_RGBA;
        image = make_image(reader.height, reader.width, limits);
    }
    if (image.has_value()) {
        std::vector<uint8_t> rgba(image->pixels.size() / 3 * 4);
        if (finish(&reader, nullptr, rgba.data(), 0, nullptr) != 0) {
            from_rgba(rgba.data(), *image);
        } else {
            image.reset();
        }
    }
    release(&reader);
    return image;
}

}  // namespace

ImageReader png_reader() {
    return libpng().is_loaded() ? read_png : nullptr;
}
#else
ImageReader png_reader() {
    return nullptr;
}
#endif

// --- TIFF: libtiff, which makes 8-bit RGBA of everything that it knows.

#ifdef SDX_HAS_TIFF
namespace {

// Both have the functions below in the same form.
const SharedLibrary& libtiff() {
    static const SharedLibrary newer("libtiff.so.6");
    static const SharedLibrary older("libtiff.so.5");
    return newer.is_loaded() ? newer : older;
}

struct TiffBytes {
    ImageBytes file;
    toff_t at = 0;
};

tmsize_t tiff_read(thandle_t user, void* buffer, tmsize_t count) {
    auto& bytes = *static_cast<TiffBytes*>(user);
    if (count < 0 || bytes.at >= bytes.file.size()) {
        return 0;
    }
    size_t given = std::min<size_t>(static_cast<size_t>(count), bytes.file.size() - bytes.at);
    std::memcpy(buffer, bytes.file.data() + bytes.at, given);
    bytes.at += given;
    return static_cast<tmsize_t>(given);
}

tmsize_t tiff_write(thandle_t, void*, tmsize_t) {
    return 0;
}

toff_t tiff_seek(thandle_t user, toff_t offset, int whence) {
    auto& bytes = *static_cast<TiffBytes*>(user);
    toff_t start = whence == SEEK_CUR ? bytes.at : whence == SEEK_END ? bytes.file.size() : 0;
    bytes.at = start + offset;
    return bytes.at;
}

int tiff_close(thandle_t) {
    return 0;
}

toff_t tiff_size(thandle_t user) {
    return static_cast<TiffBytes*>(user)->file.size();
}

std::optional<Image> read_tiff(ImageBytes file, const ImageLimits& limits) {
#define SDX_TIFF(name) LibraryFunction<decltype(&TIFF##name)> name(libtiff(), "TIFF" #name)
    SDX_TIFF(ClientOpen);
    SDX_TIFF(Close);
    SDX_TIFF(GetField);
    SDX_TIFF(ReadRGBAImageOriented);
    SDX_TIFF(SetErrorHandler);
    SDX_TIFF(SetWarningHandler);
#undef SDX_TIFF
    // Else it prints. The handlers are the process's; others may use the library too.
    TIFFErrorHandler errors = SetErrorHandler(TIFFErrorHandler{nullptr});
    TIFFErrorHandler warnings = SetWarningHandler(TIFFErrorHandler{nullptr});
    TiffBytes bytes{file};
    TIFF* tiff =
        ClientOpen("image", "rm", thandle_t{&bytes}, tiff_read, tiff_write, tiff_seek, tiff_close,
                   tiff_size, TIFFMapFileProc{nullptr}, TIFFUnmapFileProc{nullptr});
    std::optional<Image> image;
    if (tiff != nullptr) {
        uint32_t width = 0, height = 0;
        GetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
        GetField(tiff, TIFFTAG_IMAGELENGTH, &height);
        image = make_image(height, width, limits);
        if (image.has_value()) {
            std::vector<uint32_t> packed(image->pixels.size() / 3);
            if (ReadRGBAImageOriented(tiff, width, height, packed.data(), ORIENTATION_TOPLEFT, 1) !=
                0) {
                for (size_t i = 0; i < packed.size(); ++i) {
                    image->pixels[i * 3] = static_cast<uint8_t>(TIFFGetR(packed[i]));
                    image->pixels[i * 3 + 1] = static_cast<uint8_t>(TIFFGetG(packed[i]));
                    image->pixels[i * 3 + 2] = static_cast<uint8_t>(TIFFGetB(packed[i]));
                }
            } else {
                image.reset();
            }
        }
        Close(tiff);
    }
    SetErrorHandler(errors);
    SetWarningHandler(warnings);
    return image;
}

}  // namespace

ImageReader tiff_reader() {
    return libtiff().is_loaded() ? read_tiff : nullptr;
}
#else
ImageReader tiff_reader() {
    return nullptr;
}
#endif

// --- WebP: libwebp.

#ifdef SDX_HAS_WEBP
namespace {

const SharedLibrary& libwebp() {
    static const SharedLibrary library("libwebp.so.7");
    return library;
}

std::optional<Image> read_webp(ImageBytes file, const ImageLimits& limits) {
    LibraryFunction<decltype(&WebPGetInfo)> info(libwebp(), "WebPGetInfo");
    LibraryFunction<decltype(&WebPDecodeRGBInto)> decode(libwebp(), "WebPDecodeRGBInto");
    int width = 0, height = 0;
    if (!info || !decode || info(file.data(), file.size(), &width, &height) == 0) {
        return std::nullopt;
    }
    std::optional<Image> image = make_image(height, width, limits);
    if (image.has_value() && decode(file.data(), file.size(), image->pixels.data(),
                                    image->pixels.size(), width * 3) == nullptr) {
        image.reset();
    }
    return image;
}

}  // namespace

ImageReader webp_reader() {
    return libwebp().is_loaded() ? read_webp : nullptr;
}
#else
ImageReader webp_reader() {
    return nullptr;
}
#endif

}  // namespace sardonyx::eval
