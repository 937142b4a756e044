#include "eval/libraries.h"

#include "base/shared_library.h"
#include "eval/kernels/images/image.h"
#include "eval/loops/clones.h"

#define SDX_TEXT_OF(...) #__VA_ARGS__
#define SDX_TEXT(...) SDX_TEXT_OF(__VA_ARGS__)

namespace sardonyx::eval {
namespace {

// Each version of oneDNN is a package of its own; the build loads that of the headers it found.
#ifdef SDX_ONEDNN
constexpr std::string_view kOneDnnPackage = SDX_ONEDNN_PACKAGE;
bool has_onednn() {
    return SharedLibrary(SDX_ONEDNN).find("dnnl_sgemm") != nullptr;
}
#else
constexpr std::string_view kOneDnnPackage = "libdnnl-dev, and build anew";
bool has_onednn() {
    return false;
}
#endif

}  // namespace

std::vector<OptionalLibrary> optional_libraries() {
    return {
        {"oneDNN", "large products of matrices, and convolutions", kOneDnnPackage, has_onednn()},
        {"libturbojpeg", "JPEG images", "libturbojpeg0", jpeg_reader() != nullptr},
        {"libpng", "PNG images", "libpng16-16", png_reader() != nullptr},
        {"libtiff", "TIFF images", "libtiff6", tiff_reader() != nullptr},
        {"libwebp", "WebP images", "libwebp7", webp_reader() != nullptr},
        {"libopenjp2", "JPEG 2000 images", "libopenjp2-7", jpeg2000_reader() != nullptr},
    };
}

std::string_view loops_instruction_set() {
#if defined(__x86_64__) && defined(__GNUC__)
    if (std::string_view(SDX_TEXT(SDX_CLONES)).empty()) {
        return {};  // this compiler makes no clones
    }
    __builtin_cpu_init();
    bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return has_v4 ? "x86-64-v4" : has_v3 ? "x86-64-v3" : "x86-64";
#else
    return {};
#endif
}

}  // namespace sardonyx::eval
