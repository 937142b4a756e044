// The C interface: what other languages bind to. (sardonyx.h is the one of C++.)
//
// Every function that can fail gives an sdx_error*: NULL where it succeeded, else an error that the
// caller frees. Then `*out` is NULL. Handles are opaque; each is freed by its own function, and
// NULL may be freed. A handle that is NULL or of another kind is an error; one that was freed is as
// bad as freed memory. Text is UTF-8 and ends with 0. No function throws, and none prints.
//
// Functions that only read a handle may run on several threads at once. Sizes of structs are part
// of the interface: it grows by functions.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Names as C has them: sdx_ for types and functions, SDX_ for constants, and typedefs.
// NOLINTBEGIN(readability-identifier-naming, modernize-use-using)

#if defined(__cplusplus)
#include <sardonyx/export.h>
#define SDX_C SDX_API
extern "C" {
#else
#define SDX_C
#endif

typedef struct sdx_error sdx_error;
typedef struct sdx_model sdx_model;
typedef struct sdx_value sdx_value;
typedef struct sdx_token sdx_token;
typedef struct sdx_kernels sdx_kernels;
typedef struct sdx_call sdx_call;

/* "0.1.0" */
SDX_C const char* sdx_version(void);

/* --- Errors. What is wrong, as text; "" for NULL. It lives as long as the error. */
SDX_C const char* sdx_error_message(const sdx_error* error);
/* Whether a script has mistakes: then the message is what the program `sardonyx` prints. */
SDX_C int32_t sdx_error_is_compilation(const sdx_error* error);
/* Whether a run was ended by its limits (sdx_limits). */
enum { SDX_NOT_ENDED = 0, SDX_CANCELLED = 1, SDX_TIMED_OUT = 2 };
SDX_C int32_t sdx_error_end(const sdx_error* error);
/* The findings of a compilation, warnings among them, in the order of the source. */
typedef struct sdx_finding {
    int32_t severity;    /* 0: note, 1: warning, 2: error */
    const char* code;    /* "unknown-operator" */
    const char* message; /* this and the other texts live as long as the error */
    const char* help;    /* what to do; may be "" */
    const char* path;    /* "": nowhere in particular */
    uint32_t line, column, end_line, end_column; /* from 1; columns count code points */
    uint32_t begin, end;                         /* bytes from the start of the file */
    size_t edit_count;
} sdx_finding;
SDX_C size_t sdx_error_finding_count(const sdx_error* error);
SDX_C sdx_error* sdx_error_finding(const sdx_error* error, size_t i, sdx_finding* out);
/* Edit k of finding i: what could stand instead of bytes [begin, end) of the file. */
typedef struct sdx_edit {
    const char* path;
    uint32_t begin, end;
    const char* replacement;
} sdx_edit;
SDX_C sdx_error* sdx_error_edit(const sdx_error* error, size_t i, size_t k, sdx_edit* out);
SDX_C void sdx_error_free(sdx_error* error);
/* An error of the caller's own, for what a kernel gives (sdx_kernel). `message` is copied. */
SDX_C sdx_error* sdx_error_new(const char* message);

/* --- Element types: the numbers of TensorProto.DataType. */
enum {
    SDX_FLOAT = 1,
    SDX_UINT8 = 2,
    SDX_INT8 = 3,
    SDX_UINT16 = 4,
    SDX_INT16 = 5,
    SDX_INT32 = 6,
    SDX_INT64 = 7,
    SDX_STRING = 8,
    SDX_BOOL = 9,
    SDX_FLOAT16 = 10,
    SDX_DOUBLE = 11,
    SDX_UINT32 = 12,
    SDX_UINT64 = 13,
    SDX_COMPLEX64 = 14,
    SDX_COMPLEX128 = 15,
    SDX_BFLOAT16 = 16,
    SDX_FLOAT8E4M3FN = 17,
    SDX_FLOAT8E4M3FNUZ = 18,
    SDX_FLOAT8E5M2 = 19,
    SDX_FLOAT8E5M2FNUZ = 20,
    SDX_UINT4 = 21,
    SDX_INT4 = 22,
    SDX_FLOAT4E2M1 = 23,
    SDX_FLOAT8E8M0 = 24,
    SDX_UINT2 = 25,
    SDX_INT2 = 26,
    SDX_FLOAT6E2M3 = 27,
    SDX_FLOAT6E3M2 = 28
};

/* --- Values: what flows into and out of a graph. */
enum { SDX_NOTHING = 0, SDX_TENSOR = 1, SDX_SEQUENCE = 2, SDX_MAP = 3 };

/* A tensor in memory: row-major, little-endian, elements below 8 bits packed from the low bits up.
 * `size` counts bytes. */
typedef struct sdx_view {
    int32_t element_type;
    int32_t rank;
    const int64_t* dims; /* `rank` of them */
    void* data;
    size_t size;
} sdx_view;

/* A tensor over memory of the caller, which must not change while the value, or a result that
 * shares the memory, lives; then release(context) is called, if it is not NULL. Nothing is copied,
 * but of elements that are not aligned, and of BOOL that is neither 0 nor 1. Not for STRING. After
 * an error, `release` has not been called and will not be. */
SDX_C sdx_error* sdx_value_borrow(const sdx_view* view, void (*release)(void* context),
                                  void* context, sdx_value** out);
/* A tensor with storage of its own, which starts as zero. To be filled through sdx_value_view
 * before its first use; a byte of BOOL is 0 or 1. */
SDX_C sdx_error* sdx_value_zeros(int32_t element_type, const int64_t* dims, int32_t rank,
                                 sdx_value** out);
/* A tensor of STRING; text i has sizes[i] bytes, or ends with 0 where `sizes` is NULL. */
SDX_C sdx_error* sdx_value_strings(const char* const* texts, const size_t* sizes, size_t count,
                                   const int64_t* dims, int32_t rank, sdx_value** out);
/* A sequence of these values, which it shares. `element_type` is that of its tensors, for a
 * sequence that is empty. */
SDX_C sdx_error* sdx_value_sequence(int32_t element_type, const sdx_value* const* items,
                                    size_t count, sdx_value** out);
/* A map from keys (INT64 or STRING, each once) to values: two tensors of rank 1 and one length. */
SDX_C sdx_error* sdx_value_map(const sdx_value* keys, const sdx_value* values, sdx_value** out);

/* SDX_TENSOR and so on; -1 for what is no value. */
SDX_C int32_t sdx_value_kind(const sdx_value* value);
/* The tensor where it lies; `dims` and `data` live as long as the value. `data` is NULL for STRING.
 */
SDX_C sdx_error* sdx_value_view(const sdx_value* value, sdx_view* out);
/* Element i of a tensor of STRING; it lives as long as the value, and also ends with 0. */
SDX_C sdx_error* sdx_value_text(const sdx_value* value, size_t i, const char** text, size_t* size);
/* How many elements, items or entries a tensor, sequence or map has; 0 for nothing. */
SDX_C size_t sdx_value_count(const sdx_value* value);
/* Item i of a sequence; the tensors of a map. New handles, which share the storage. */
SDX_C sdx_error* sdx_value_item(const sdx_value* value, size_t i, sdx_value** out);
SDX_C sdx_error* sdx_value_keys(const sdx_value* value, sdx_value** out);
SDX_C sdx_error* sdx_value_values(const sdx_value* value, sdx_value** out);
SDX_C void sdx_value_free(sdx_value* value);

/* --- Models. */
typedef struct sdx_compile_options {
    const char* function; /* the script; NULL: the only one that no other script of the file uses */
    const char* const* input_types; /* "x=FLOAT[2,N]", ... */
    size_t input_type_count;
    const char* const* attributes; /* "axes=[0, 1]", ... */
    size_t attribute_count;
    int64_t opset;              /* 0: the script's */
    int64_t ir_version;         /* 0: the lowest that the content needs */
    int32_t as_function;        /* a FunctionProto, which is not run */
    const char* const* schemas; /* files with operators of other domains */
    size_t schema_count;
} sdx_compile_options;

/* The options may be NULL. `path` is for messages and for files that the text imports. */
SDX_C sdx_error* sdx_compile_file(const char* path, const sdx_compile_options* options,
                                  sdx_model** out);
SDX_C sdx_error* sdx_compile_text(const char* text, size_t size, const char* path,
                                  const sdx_compile_options* options, sdx_model** out);
/* The findings of `sardonyx check` about all scripts of the files, and about models; a folder
 * stands for the scripts under it. `*out` is NULL when there are none, else what the sdx_error
 * functions read: the findings, and the text of all. A file that cannot be read is a finding. */
typedef struct sdx_check_options {
    const char* const* text_paths; /* scripts as an editor holds them: their paths, */
    const char* const* texts;      /* and what they hold in place of the files */
    size_t text_count;
    const char* const* schemas; /* files with operators of other domains */
    size_t schema_count;
} sdx_check_options;
SDX_C sdx_error* sdx_check_files(const char* const* paths, size_t path_count,
                                 const sdx_check_options* options, sdx_error** out);
/* A .onnx file, which stays mapped as long as the model lives. */
SDX_C sdx_error* sdx_model_load(const char* path, sdx_model** out);
/* The bytes of a ModelProto, which are copied. */
SDX_C sdx_error* sdx_model_from_bytes(const void* data, size_t size, sdx_model** out);
/* Writes the ModelProto or FunctionProto. */
SDX_C sdx_error* sdx_model_save(const sdx_model* model, const char* path);

SDX_C size_t sdx_model_input_count(const sdx_model* model);
SDX_C size_t sdx_model_output_count(const sdx_model* model);
/* Name and type ("FLOAT[2, N]") of input or output i; they live as long as the model. Either may be
 * NULL, and is not asked for then. */
SDX_C sdx_error* sdx_model_input(const sdx_model* model, size_t i, const char** name,
                                 const char** type);
SDX_C sdx_error* sdx_model_output(const sdx_model* model, size_t i, const char** name,
                                  const char** type);

typedef struct sdx_run_options {
    uint64_t seed;     /* of random operators without a `seed` of their own */
    int64_t max_steps; /* nodes and iterations in all; 0: no limit, below: none */
    int32_t threads;   /* 0: the cores; results do not depend on it */
} sdx_run_options;

/* What the first run does before it runs. */
SDX_C sdx_error* sdx_model_prepare(const sdx_model* model);
/* Runs the main graph. inputs[i] is that of input i; NULL, or behind the last, where it has a
 * default. The results are `output_count` new values, at most as many as the model has. After an
 * error all of them are NULL. */
SDX_C sdx_error* sdx_model_run(const sdx_model* model, const sdx_value* const* inputs,
                               size_t input_count, const sdx_run_options* options,
                               sdx_value** outputs, size_t output_count);
/* The same into memory of the caller: output i must be a tensor of the type and shape of
 * outputs[i]; no two of them share memory. After an error it may be written in part. */
SDX_C sdx_error* sdx_model_run_into(const sdx_model* model, const sdx_value* const* inputs,
                                    size_t input_count, const sdx_run_options* options,
                                    const sdx_view* outputs, size_t output_count);

/* --- Runs that are ended early, within some milliseconds. The model is as before. */
SDX_C sdx_error* sdx_token_new(sdx_token** out);
/* Ends the runs that have the token, and those that will get it. From any thread, and from handlers
 * of signals. */
SDX_C void sdx_token_cancel(sdx_token* token);
SDX_C int32_t sdx_token_is_cancelled(const sdx_token* token);
SDX_C void sdx_token_free(sdx_token* token);

typedef struct sdx_limits {
    double timeout;         /* in seconds; 0: none, below: there is no time at all */
    const sdx_token* token; /* it outlives the run; NULL: none */
} sdx_limits;
/* sdx_model_run and sdx_model_run_into within these limits, which may be NULL. */
SDX_C sdx_error* sdx_model_run_limited(const sdx_model* model, const sdx_value* const* inputs,
                                       size_t input_count, const sdx_run_options* options,
                                       const sdx_limits* limits, sdx_value** outputs,
                                       size_t output_count);
SDX_C sdx_error* sdx_model_run_into_limited(const sdx_model* model, const sdx_value* const* inputs,
                                            size_t input_count, const sdx_run_options* options,
                                            const sdx_limits* limits, const sdx_view* outputs,
                                            size_t output_count);

/* --- Arguments: values, and what stands for one or for an attribute. */
enum {
    SDX_ARGUMENT_NOTHING = 0, /* left out */
    SDX_ARGUMENT_VALUE = 1,
    SDX_ARGUMENT_INT = 2, /* `ints` points to one, and so on */
    SDX_ARGUMENT_FLOAT = 3,
    SDX_ARGUMENT_TEXT = 4,
    SDX_ARGUMENT_INTS = 5, /* `ints` points to `count`, and so on */
    SDX_ARGUMENT_FLOATS = 6,
    SDX_ARGUMENT_TEXTS = 7
};
typedef struct sdx_argument {
    const char* name; /* of an attribute or of an input; NULL: the next input */
    int32_t kind;
    const sdx_value* value;
    const int64_t* ints;
    const double* floats;
    const char* const* texts; /* each ends with 0 */
    size_t count;
} sdx_argument;

/* --- Kernels of one's own, for operators of domains that the standard does not have. */
SDX_C sdx_error* sdx_kernels_new(sdx_kernels** out);
/* Runs one call: reads inputs and attributes, and sets all outputs. Several threads may run it at
 * once. Gives NULL, or an error, which it makes with sdx_error_new or has from a function of this
 * header, and which it gives away. */
typedef sdx_error* (*sdx_kernel)(sdx_call* call, void* context);
/* Adds the kernel of an operator, in all versions of its domain. `release`, if it is not NULL, is
 * called when nothing can run the kernel any more; after an error, it will not be. */
SDX_C sdx_error* sdx_kernels_add(sdx_kernels* kernels, const char* domain, const char* name,
                                 sdx_kernel kernel, void* context, void (*release)(void* context));
SDX_C void sdx_kernels_free(sdx_kernels* kernels);
/* What a kernel asks of its call, which ends with it. */
SDX_C size_t sdx_call_input_count(const sdx_call* call);
SDX_C size_t sdx_call_output_count(const sdx_call* call);
/* Input i, which must not be written or freed, and ends with the call; NULL where it is left out.
 */
SDX_C sdx_error* sdx_call_input(const sdx_call* call, size_t i, const sdx_value** out);
/* The attribute of this name, of kind SDX_ARGUMENT_NOTHING where there is none; it ends with the
 * call. Graphs, types and lists of tensors are errors. */
SDX_C sdx_error* sdx_call_attribute(sdx_call* call, const char* name, sdx_argument* out);
/* The value becomes output i, and shares its storage. */
SDX_C sdx_error* sdx_call_set_output(sdx_call* call, size_t i, const sdx_value* value);

/* Another handle of the model, whose runs use the kernels that are in the table now, in place of
 * functions of the same names, too. */
SDX_C sdx_error* sdx_model_with_kernels(const sdx_model* model, const sdx_kernels* kernels,
                                        sdx_model** out);

/* --- Operators that run at once. */

/* Evaluates operator `name` of version `opset` of the domain ("" for ai.onnx). Arguments without a
 * name are the inputs in order; one that is a number, a text or a list of them takes the element
 * type of the tensors beside it. `kernels` may be NULL, as the options and the limits. The results
 * are `output_count` new values; NULL after an error. */
SDX_C sdx_error* sdx_evaluate(const char* domain, int64_t opset, const char* name,
                              const sdx_argument* arguments, size_t argument_count,
                              const sdx_kernels* kernels, const sdx_run_options* options,
                              const sdx_limits* limits, sdx_value** outputs, size_t output_count);

/* --- Runs that are looked at. */
typedef struct sdx_node {
    const char* name;
    const char* op_type;
    const char* domain;
    int32_t depth; /* how many graphs and calls are around it; 1: of the main graph */
    size_t output_count;
    const char* const* output_names; /* "": the output is not used */
} sdx_node;
typedef struct sdx_observer {
    /* A node has run; `outputs` are its results, and end with the call, as the node does: NULL
     * where nobody reads one. Gives 0, or another number to end the run soon. */
    int32_t (*node_done)(void* context, const sdx_node* node, const sdx_value* const* outputs);
    void* context;
} sdx_observer;
/* sdx_model_run_limited, where the observer sees each node as it is done, on the thread that calls.
 * Nodes whose inputs are constants have been done before. */
SDX_C sdx_error* sdx_model_run_observed(const sdx_model* model, const sdx_value* const* inputs,
                                        size_t input_count, const sdx_run_options* options,
                                        const sdx_limits* limits, const sdx_observer* observer,
                                        sdx_value** outputs, size_t output_count);

/* Another owner of the same model, which is freed when all have freed it. */
SDX_C sdx_error* sdx_model_share(const sdx_model* model, sdx_model** out);
SDX_C void sdx_model_free(sdx_model* model);

#if defined(__cplusplus)
}
#endif
// NOLINTEND(readability-identifier-naming, modernize-use-using)
