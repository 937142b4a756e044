// .npz: a zip archive of .npy files. Only what numpy.savez and savez_compressed write is read:
// stored and deflated entries (base/zip.h). zlib inflates them where it is installed.
#include <fmt/format.h>

#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/quote.h"
#include "base/shared_library.h"
#include "base/zip.h"
#include "weights/npy.h"
#include "weights/weights.h"

namespace sardonyx::weights {
namespace {

Error damaged() {
    return Error{"it is not an .npz archive, or is damaged"};
}

Error no_zlib(const ZipEntry& entry) {
    return Error{
        fmt::format("{} is compressed, and zlib is not installed: save it with "
                    "`numpy.savez`, whose arrays can be mapped, too",
                    quoted(entry.name))};
}

using Inflated = std::vector<std::byte>;

#if __has_include(<zlib.h>)

const SharedLibrary& zlib() {
    static const SharedLibrary library("libz.so.1");
    return library;
}

// The bytes of a deflated entry. Its size is believed as far as deflate can go.
Result<std::shared_ptr<Inflated>> inflated(std::span<const std::byte> bytes,
                                           const ZipEntry& entry) {
    constexpr uint64_t kMostPerByte = 1032, kSome = 64;
    if (entry.size > bytes.size() * kMostPerByte + kSome) {
        return damaged();
    }
    LibraryFunction<decltype(&inflateInit2_)> start(zlib(), "inflateInit2_");
    LibraryFunction<decltype(&inflate)> run(zlib(), "inflate");
    LibraryFunction<decltype(&inflateEnd)> end(zlib(), "inflateEnd");
    if (!start || !run || !end) {
        return no_zlib(entry);
    }
    auto whole = std::make_shared<Inflated>(static_cast<size_t>(entry.size));
    z_stream stream{};
    constexpr int kRaw = -15;  // without zlib's own header
    if (start(&stream, kRaw, ZLIB_VERSION, static_cast<int>(sizeof stream)) != Z_OK) {
        return no_zlib(entry);
    }
    constexpr size_t kMostAtOnce = size_t{1} << 30;
    size_t read = 0, written = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        size_t input = std::min(bytes.size() - read, kMostAtOnce);
        size_t output = std::min(whole->size() - written, kMostAtOnce);
        stream.next_in =
            reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + read));  // only read
        stream.next_out = reinterpret_cast<Bytef*>(whole->data() + written);
        stream.avail_in = static_cast<uInt>(input);
        stream.avail_out = static_cast<uInt>(output);
        status = run(&stream, Z_NO_FLUSH);  // Z_BUF_ERROR when it gets no further
        read += input - stream.avail_in;
        written += output - stream.avail_out;
    }
    end(&stream);
    return status == Z_STREAM_END && written == whole->size()
               ? Result<std::shared_ptr<Inflated>>(std::move(whole))
               : damaged();
}

#else

Result<std::shared_ptr<Inflated>> inflated(std::span<const std::byte>, const ZipEntry& entry) {
    return no_zlib(entry);
}

#endif

Result<Tensor> read_tensor(const ZipEntry& entry, const std::shared_ptr<const void>& owner) {
    if (entry.method != kZipStored && entry.method != kZipDeflated) {
        return Error{
            fmt::format("{} is compressed in a way that NumPy does not write", quoted(entry.name))};
    }
    std::span<const std::byte> bytes = entry.bytes;
    std::shared_ptr<const void> keeper = owner;
    if (entry.method == kZipDeflated) {
        Result<std::shared_ptr<Inflated>> whole = inflated(bytes, entry);
        SDX_TRY(whole);
        bytes = **whole;
        keeper = *whole;
    }
    Result<Tensor> tensor = read_npy(bytes, keeper);
    if (!tensor.ok()) {
        return Error{fmt::format("{}: {}", quoted(entry.name), tensor.error().message)};
    }
    return tensor;
}

}  // namespace

bool has_zlib() {
#if __has_include(<zlib.h>)
    return zlib().is_loaded();
#else
    return false;
#endif
}

Result<NamedTensors> read_npz(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    // Entries that share their bytes would make more copies than the file has bytes.
    std::optional<std::vector<ZipEntry>> entries = read_zip(bytes);
    if (!entries) {
        return damaged();
    }
    NamedTensors tensors;
    for (const ZipEntry& entry : *entries) {
        Result<Tensor> tensor = read_tensor(entry, owner);
        SDX_TRY(tensor);
        std::string_view name = entry.name;
        constexpr std::string_view kSuffix = ".npy";
        bool has_suffix =
            name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
        tensors.emplace_back(name.substr(0, name.size() - (has_suffix ? kSuffix.size() : 0)),
                             std::move(*tensor));
    }
    return tensors;
}

}  // namespace sardonyx::weights
