#include "eval/loops/onednn.h"

#if defined(SDX_ONEDNN)

#include <oneapi/dnnl/dnnl.h>

#include <optional>
#include <string_view>
#include <vector>

#include "base/mapping_guard.h"
#include "base/shared_library.h"
#include "base/signals.h"
#include "eval/runtime/helper_thread.h"
#include "types/tensor.h"

namespace sardonyx::eval {
namespace {

// The functions that are used here, by the names of its C interface.
class OneDnn {
  public:
    static const OneDnn& instance() {
        static const OneDnn library;
        return library;
    }

    bool can_multiply() const { return sgemm && get_threads && set_threads; }
    bool can_compile() const { return engine_ != nullptr && stream_ != nullptr; }
    dnnl_engine_t engine() const { return engine_; }
    dnnl_stream_t stream() const { return stream_; }

  private:
    template <typename Function>
    using Entry = LibraryFunction<Function>;
    SharedLibrary library_{SDX_ONEDNN};

  public:
#define SDX_DNNL(name) Entry<decltype(&dnnl_##name)> name{library_, "dnnl_" #name};
    SDX_DNNL(sgemm)
    SDX_DNNL(engine_create)
    SDX_DNNL(stream_create)
    SDX_DNNL(memory_desc_init_by_tag)
    SDX_DNNL(memory_desc_init_by_strides)
    SDX_DNNL(memory_desc_get_size)
    SDX_DNNL(memory_desc_equal)
    SDX_DNNL(memory_create)
    SDX_DNNL(memory_destroy)
    SDX_DNNL(dilated_convolution_forward_desc_init)
    SDX_DNNL(reorder_primitive_desc_create)
    SDX_DNNL(primitive_attr_create)
    SDX_DNNL(primitive_attr_destroy)
    SDX_DNNL(primitive_attr_set_scratchpad_mode)
    SDX_DNNL(primitive_desc_create)
    SDX_DNNL(primitive_desc_destroy)
    SDX_DNNL(primitive_desc_query)
    SDX_DNNL(primitive_desc_query_md)
    SDX_DNNL(primitive_create)
    SDX_DNNL(primitive_destroy)
    SDX_DNNL(primitive_execute)
#undef SDX_DNNL
    // Of the OpenMP that it is linked with; the setting is the calling thread's own.
    Entry<int (*)()> get_threads{library_, "omp_get_max_threads"};
    Entry<void (*)(int)> set_threads{library_, "omp_set_num_threads"};

  private:
    OneDnn() {
        bool has_all =
            can_multiply() && engine_create && stream_create && memory_desc_init_by_tag &&
            memory_desc_init_by_strides && memory_desc_get_size && memory_desc_equal &&
            memory_create && memory_destroy && dilated_convolution_forward_desc_init &&
            reorder_primitive_desc_create && primitive_attr_create && primitive_attr_destroy &&
            primitive_attr_set_scratchpad_mode && primitive_desc_create && primitive_desc_destroy &&
            primitive_desc_query && primitive_desc_query_md && primitive_create &&
            primitive_destroy && primitive_execute;
        if (has_all && engine_create(&engine_, dnnl_cpu, size_t{0}) == dnnl_success) {
            stream_create(&stream_, engine_, unsigned{dnnl_stream_default_flags});
        }
    }

    // They live as long as the process.
    dnnl_engine_t engine_ = nullptr;
    dnnl_stream_t stream_ = nullptr;
};

// The library may be interrupted by a signal: small products, and the convolutions that it
// compiles.
struct KeepsItsStack {};

// While one lives, the library works on this thread alone, and no signal is handled there: for a
// product of matrices it puts the stack pointer into memory of the heap, whose neighbours the frame
// of a handler would overwrite. Two system calls are that: a small convolution is done sooner.
class OneThread {
  public:
    explicit OneThread(const OneDnn& library) : OneThread(library, KeepsItsStack()) {
        use_fault_stack();          // it may read a mapped file that somebody truncates
        if (!is_helper_thread()) {  // where none is handled anyway
            blocked_.emplace();
        }
    }
    OneThread(const OneDnn& library, KeepsItsStack)
        : library_(library), before_(library.get_threads()) {
        library_.set_threads(1);
    }
    ~OneThread() { library_.set_threads(before_); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

  private:
    const OneDnn& library_;
    int before_;
    std::optional<SignalsBlocked> blocked_;
};

// What the library makes and takes back.
template <typename Object>
using Destroy = LibraryFunction<dnnl_status_t(DNNL_API*)(Object)>;
template <typename Object>
class Owned {
  public:
    explicit Owned(Destroy<Object> destroy) : destroy_(destroy) {}
    ~Owned() {
        if (object_ != nullptr) {
            destroy_(object_);
        }
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;

    Object get() const { return object_; }
    Object* place() { return &object_; }

  private:
    Destroy<Object> destroy_;
    Object object_ = nullptr;
};

Tensor bytes_of_size(size_t size) {
    return Tensor::uninitialized(ElementType::kUint8, {static_cast<int64_t>(size)});
}

// A memory of the library over bytes of ours.
bool wrap(const OneDnn& library, const dnnl_memory_desc_t& layout, const void* bytes,
          Owned<dnnl_memory_t>* memory) {
    return library.memory_create(memory->place(), &layout, library.engine(),
                                 const_cast<void*>(bytes)) == dnnl_success;
}

class Compiled : public CompiledConvolution {
  public:
    explicit Compiled(const OneDnn& library)
        : library_(library),
          primitive_(library.primitive_destroy),
          weights_(library.memory_destroy) {}

    bool compile(const PictureConvolution& shape, const void* weights, const Compiled* like);
    void run(const void* picture, void* sums) const override;

  private:
    bool describe(const PictureConvolution& shape, dnnl_convolution_desc_t* convolution);
    bool reorder_weights(const PictureConvolution& shape, const void* weights);

    const OneDnn& library_;
    Owned<dnnl_primitive_t> primitive_;
    dnnl_memory_desc_t weight_layout_{};
    Tensor weight_bytes_;
    Owned<dnnl_memory_t> weights_;
    dnnl_memory_desc_t picture_{};
    dnnl_memory_desc_t sums_{};
    dnnl_memory_desc_t scratch_{};
};

// The dims, or steps, of weights as the library sees them: those of depthwise ones are of groups.
struct FilterDims {
    int rank;
    dnnl_dims_t dims;
};

FilterDims filter_dims(const PictureConvolution& s, int64_t out, int64_t in, int64_t height,
                       int64_t width) {
    return s.is_depthwise ? FilterDims{5, {out, in, in, height, width}}
                          : FilterDims{4, {out, in, height, width}};
}

FilterDims filter_sizes(const PictureConvolution& s) {
    return filter_dims(s, s.out_channels, s.is_depthwise ? 1 : s.in_channels, s.kernel[0],
                       s.kernel[1]);
}

bool Compiled::describe(const PictureConvolution& s, dnnl_convolution_desc_t* convolution) {
    const dnnl_dims_t in{1, s.in_channels, s.in[0], s.in[1]};
    const dnnl_dims_t out{1, s.out_channels, s.out[0], s.out[1]};
    const FilterDims kernel = filter_sizes(s);
    const dnnl_dims_t strides{s.strides[0], s.strides[1]};
    const dnnl_dims_t gaps{s.dilations[0] - 1, s.dilations[1] - 1};
    const dnnl_dims_t begin{s.begin[0], s.begin[1]};
    const dnnl_dims_t end{s.end[0], s.end[1]};
    dnnl_memory_desc_t weights;
    return library_.memory_desc_init_by_tag(&picture_, 4, in, s.of_bytes ? dnnl_u8 : dnnl_f32,
                                            dnnl_nhwc) == dnnl_success &&
           library_.memory_desc_init_by_tag(&weights, kernel.rank, kernel.dims,
                                            s.of_bytes ? dnnl_s8 : dnnl_f32,
                                            dnnl_format_tag_any) == dnnl_success &&
           library_.memory_desc_init_by_tag(&sums_, 4, out, s.of_bytes ? dnnl_s32 : dnnl_f32,
                                            dnnl_nhwc) == dnnl_success &&
           library_.dilated_convolution_forward_desc_init(
               convolution, dnnl_forward_inference, dnnl_convolution_direct, &picture_, &weights,
               static_cast<const dnnl_memory_desc_t*>(nullptr), &sums_, strides, gaps, begin,
               end) == dnnl_success;
}

// Brings the weights into the order of weight_layout_.
bool Compiled::reorder_weights(const PictureConvolution& s, const void* weights) {
    const FilterDims sizes = filter_sizes(s);
    const FilterDims steps = filter_dims(s, s.out_step, s.in_step, s.kernel[1], 1);
    dnnl_memory_desc_t given;
    Owned<dnnl_primitive_desc_t> description(library_.primitive_desc_destroy);
    Owned<dnnl_primitive_t> reorder(library_.primitive_destroy);
    Owned<dnnl_memory_t> from(library_.memory_destroy);
    weight_bytes_ = bytes_of_size(library_.memory_desc_get_size(&weight_layout_));
    bool is_ready =
        library_.memory_desc_init_by_strides(&given, sizes.rank, sizes.dims,
                                             s.of_bytes ? dnnl_s8 : dnnl_f32,
                                             steps.dims) == dnnl_success &&
        library_.reorder_primitive_desc_create(
            description.place(), &given, library_.engine(), &weight_layout_, library_.engine(),
            static_cast<const_dnnl_primitive_attr_t>(nullptr)) == dnnl_success &&
        library_.primitive_create(reorder.place(), description.get()) == dnnl_success &&
        wrap(library_, given, weights, &from) &&
        wrap(library_, weight_layout_, weight_bytes_.mutable_bytes().data(), &weights_);
    if (!is_ready) {
        return false;
    }
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()},
                                         {DNNL_ARG_TO, weights_.get()}};
    return library_.primitive_execute(reorder.get(), library_.stream(), 2, arguments) ==
           dnnl_success;
}

// Whether the code is faster than what we have: compiled for these shapes, not a product of
// matrices ("gemm:jit"). For bytes only that
// which keeps its sums as integers, and whose instructions do not saturate on the way.
bool is_fast(std::string_view code, bool of_bytes) {
    bool is_exact =
        code.find("amx") != std::string_view::npos || code.find("vnni") != std::string_view::npos;
    return of_bytes ? code.substr(0, 3) == "brg" && is_exact
                    : code.substr(0, 3) == "brg" || code.substr(0, 4) == "brdg" ||
                          code.substr(0, 3) == "jit";
}

bool Compiled::compile(const PictureConvolution& shape, const void* weights, const Compiled* like) {
    OneThread one(library_);
    dnnl_convolution_desc_t convolution;
    Owned<dnnl_primitive_attr_t> attributes(library_.primitive_attr_destroy);
    Owned<dnnl_primitive_desc_t> description(library_.primitive_desc_destroy);
    // Scratch of the library's own belongs to the thread that made the primitive.
    bool is_described =
        describe(shape, &convolution) &&
        library_.primitive_attr_create(attributes.place()) == dnnl_success &&
        library_.primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user) ==
            dnnl_success &&
        library_.primitive_desc_create(
            description.place(), static_cast<const_dnnl_op_desc_t>(&convolution), attributes.get(),
            library_.engine(), static_cast<const_dnnl_primitive_desc_t>(nullptr)) == dnnl_success;
    const char* code = nullptr;
    if (!is_described ||
        library_.primitive_desc_query(description.get(), dnnl_query_impl_info_str, 0,
                                      static_cast<void*>(&code)) != dnnl_success ||
        !is_fast(code, shape.of_bytes)) {
        return false;
    }
    scratch_ = *library_.primitive_desc_query_md(description.get(), dnnl_query_scratchpad_md, 0);
    weight_layout_ = *library_.primitive_desc_query_md(description.get(), dnnl_query_weights_md, 0);
    if (library_.primitive_create(primitive_.place(), description.get()) != dnnl_success) {
        return false;
    }
    if (like != nullptr &&
        library_.memory_desc_equal(&weight_layout_, &like->weight_layout_) != 0) {
        weight_bytes_ = like->weight_bytes_;
        return wrap(library_, weight_layout_, weight_bytes_.bytes().data(), &weights_);
    }
    return reorder_weights(shape, weights);
}

void Compiled::run(const void* picture, void* sums) const {
    OneThread one(library_, KeepsItsStack());  // so does all code that is_fast() takes
    Tensor scratch_bytes = bytes_of_size(library_.memory_desc_get_size(&scratch_));
    Owned<dnnl_memory_t> from(library_.memory_destroy), to(library_.memory_destroy);
    Owned<dnnl_memory_t> scratch(library_.memory_destroy);
    bool is_wrapped = wrap(library_, picture_, picture, &from) &&
                      wrap(library_, sums_, sums, &to) &&
                      wrap(library_, scratch_, scratch_bytes.bytes().data(), &scratch);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, from.get()},
                                         {DNNL_ARG_WEIGHTS, weights_.get()},
                                         {DNNL_ARG_DST, to.get()},
                                         {DNNL_ARG_SCRATCHPAD, scratch.get()}};
    SDX_CHECK(is_wrapped && library_.primitive_execute(primitive_.get(), library_.stream(), 4,
                                                       arguments) == dnnl_success);
}

}  // namespace

bool multiply_by_onednn(const MatrixProduct<float>& p) {
    const OneDnn& library = OneDnn::instance();
    if (!library.can_multiply()) {
        return false;
    }
    auto multiply = [&] {
        return library.sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k,
                             1.0f, p.a, p.step_a, p.b, p.step_b, 1.0f, p.c,
                             p.step_c) == dnnl_success;
    };
    // Sums up to 85 terms long fit onto the stack. These products may be so small that blocking
    // signals would take half as long as they do.
    constexpr int64_t kOnStack = 64;
    if (p.k <= kOnStack) {
        OneThread one(library, KeepsItsStack{});
        return multiply();
    }
    OneThread one(library);
    return multiply();
}

std::shared_ptr<const CompiledConvolution> compile_convolution(const PictureConvolution& shape,
                                                               const void* weights,
                                                               const CompiledConvolution* like) {
    const OneDnn& library = OneDnn::instance();
    if (!library.can_compile()) {
        return nullptr;
    }
    auto compiled = std::make_shared<Compiled>(library);
    bool is_done = compiled->compile(shape, weights, static_cast<const Compiled*>(like));
    return is_done ? compiled : nullptr;
}

}  // namespace sardonyx::eval

#else

namespace sardonyx::eval {

bool multiply_by_onednn(const MatrixProduct<float>&) {
    return false;
}

std::shared_ptr<const CompiledConvolution> compile_convolution(const PictureConvolution&,
                                                               const void*,
                                                               const CompiledConvolution*) {
    return nullptr;
}

}  // namespace sardonyx::eval

#endif
