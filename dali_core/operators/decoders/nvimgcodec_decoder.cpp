#include "dali_core/operators/decoders/nvimgcodec_decoder.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "dali_core/operators/decoders/cmyk.hpp"
#include "dali_core/operators/decoders/jpeg_header.hpp"
#include "dali_core/operators/decoders/orientation.hpp"
#include "dali_core/operators/decoders/pixel_rules.hpp"
#include "dali_core/operators/decoders/pixel_writer.hpp"

namespace dali_core {

#if DALI_CORE_HAVE_NVIMGCODEC

namespace {

// Runs the library's tasks at once and in the calling thread: the engine's workers are the only
// threads that compute.
struct InlineExecutor {
  static nvimgcodecStatus_t schedule(void*, int, int sample, void* context,
                                     void (*task)(int, int, void*)) {
    task(0, sample, context);
    return NVIMGCODEC_STATUS_SUCCESS;
  }
  static nvimgcodecStatus_t proceed(void*, int) { return NVIMGCODEC_STATUS_SUCCESS; }
  static int num_threads(void*) { return 1; }
};

template <typename Struct>
void start_struct(Struct& value, nvimgcodecStructureType_t type) {
  value = Struct{};
  value.struct_type = type;
  value.struct_size = sizeof(Struct);
}

DataType to_data_type(nvimgcodecSampleDataType_t type) {
  switch (type) {
    case NVIMGCODEC_SAMPLE_DATA_TYPE_UINT8:
      return DataType::kUInt8;
    case NVIMGCODEC_SAMPLE_DATA_TYPE_INT8:
      return DataType::kInt8;
    case NVIMGCODEC_SAMPLE_DATA_TYPE_UINT16:
      return DataType::kUInt16;
    case NVIMGCODEC_SAMPLE_DATA_TYPE_INT16:
      return DataType::kInt16;
    case NVIMGCODEC_SAMPLE_DATA_TYPE_UINT32:
      return DataType::kUInt32;
    case NVIMGCODEC_SAMPLE_DATA_TYPE_INT32:
      return DataType::kInt32;
    case NVIMGCODEC_SAMPLE_DATA_TYPE_FLOAT32:
      return DataType::kFloat;
    default:
      throw std::runtime_error(
          "samples of a file must be integers or floats of up to 32 bits (got type " +
          std::to_string(type) + "). Convert the file.");
  }
}

Orientation to_orientation(const nvimgcodecOrientation_t& stored) {
  Orientation result;
  const int turns = ((stored.rotated / 90) % 4 + 4) % 4;  // counter-clockwise
  result.transpose = turns % 2 != 0;
  result.flip_y = (turns == 1 || turns == 2) != (stored.flip_y != 0);
  result.flip_x = (turns == 2 || turns == 3) != (stored.flip_x != 0);
  return result;
}

std::string describe(const char* what, nvimgcodecStatus_t status,
                     nvimgcodecProcessingStatus_t processing) {
  const std::string message = take_codec_message();
  std::string reason = message;
  if (reason.empty())
    reason = processing == NVIMGCODEC_PROCESSING_STATUS_UNKNOWN
                 ? "status " + std::to_string(status)
                 : "processing status " + std::to_string(processing);
  return std::string(what) + " (got: " + reason +
         "). The file is damaged, or of a kind that is not supported.";
}

// What the library is told, and what is done to its pixels, to get the requested colours.
struct ColourPlan {
  ImageType model = ImageType::kRGB;
  int channels = 3;  // as the library gives them
  bool cmyk_to_grey = false;
  PixelChange change = PixelChange::kNone;
};

ColourPlan plan_colours(ImageType wanted, const ImageInfo& info) {
  ColourPlan plan;
  const bool is_cmyk = info.format == "jpeg" && info.channels == 4;
  if (wanted == ImageType::kGray || (wanted == ImageType::kAnyData && info.channels == 1)) {
    plan.cmyk_to_grey = is_cmyk;
    if (!is_cmyk) plan = {ImageType::kGray, 1};
  } else if (wanted == ImageType::kBGR) {
    plan.change = PixelChange::kSwapRedBlue;
  } else if (wanted == ImageType::kYCbCr) {
    plan.change = PixelChange::kRgbToYCbCr;
  } else if (wanted == ImageType::kAnyData && !is_cmyk && info.channels != 3) {
    if (info.channels == 2)
      throw std::runtime_error(
          "ANY_DATA must not meet an image of grey and alpha, which no codec here can give (got "
          "one). Choose another output_type.");
    plan.model = ImageType::kAnyData;
    plan.channels = info.channels;
  }
  return plan;
}

bool seems_complete(const EncodedImage& encoded, const ImageInfo& info) {
  if (info.format != "jpeg") return true;
  const auto header = read_jpeg_header(encoded);
  return header && has_end_of_jpeg(encoded, header->size);
}

// The library's objects for one thread. They are reused from image to image.
class ThreadDecoder {
 public:
  explicit ThreadDecoder(const CodecLibrary& library) : library_(library) {
    start_struct(executor_, NVIMGCODEC_STRUCTURE_TYPE_EXECUTOR_DESC);
    executor_.schedule = InlineExecutor::schedule;
    executor_.run = InlineExecutor::proceed;
    executor_.wait = InlineExecutor::proceed;
    executor_.getNumThreads = InlineExecutor::num_threads;
  }

  ~ThreadDecoder() {
    if (image_) library_.ImageDestroy(image_);
    if (region_) library_.CodeStreamDestroy(region_);
    if (stream_) library_.CodeStreamDestroy(stream_);
    for (nvimgcodecDecoder_t decoder : decoders_)
      if (decoder) library_.DecoderDestroy(decoder);
  }

  ThreadDecoder(const ThreadDecoder&) = delete;
  ThreadDecoder& operator=(const ThreadDecoder&) = delete;

  static ThreadDecoder& of_this_thread(const CodecLibraryPaths& paths) {
    static thread_local std::unique_ptr<ThreadDecoder> decoder;
    if (!decoder) decoder.reset(new ThreadDecoder(CodecLibrary::get(paths)));
    return *decoder;
  }

  ImageInfo open(const EncodedImage& encoded) {
    take_codec_message();
    nvimgcodecStatus_t status = library_.CodeStreamCreateFromHostMem(
        library_.instance, &stream_, encoded.data, encoded.size, nullptr);
    start_struct(info_, NVIMGCODEC_STRUCTURE_TYPE_IMAGE_INFO);
    if (status == NVIMGCODEC_STATUS_SUCCESS)
      status = library_.CodeStreamGetImageInfo(stream_, &info_);
    if (status != NVIMGCODEC_STATUS_SUCCESS)
      throw std::runtime_error(describe("the bytes must be an image file", status,
                                        NVIMGCODEC_PROCESSING_STATUS_UNKNOWN));
    ImageInfo info;
    info.format = info_.codec_name;
    info.height = info_.plane_info[0].height;
    info.width = info_.plane_info[0].width;
    for (uint32_t i = 0; i < info_.num_planes; ++i)
      info.channels += static_cast<int>(info_.plane_info[i].num_channels);
    info.sample_type = to_data_type(info_.plane_info[0].sample_type);
    info.orientation = to_orientation(info_.orientation);
    check_image_size(info.height, info.width, encoded.size);
    return info;
  }

  // Decodes a part of the open image, as interleaved samples of the type that is stored.
  void decode(const CropWindow& part, bool whole, ImageType model, int channels,
              DataType sample_type, bool fast_dct, void* buffer) {
    nvimgcodecCodeStream_t source = stream_;
    if (!whole) {
      nvimgcodecCodeStreamView_t view;
      start_struct(view, NVIMGCODEC_STRUCTURE_TYPE_CODE_STREAM_VIEW);
      start_struct(view.region, NVIMGCODEC_STRUCTURE_TYPE_REGION);
      view.region.ndim = 2;
      view.region.start[0] = static_cast<int>(part.y);
      view.region.start[1] = static_cast<int>(part.x);
      view.region.end[0] = static_cast<int>(part.y + part.height);
      view.region.end[1] = static_cast<int>(part.x + part.width);
      check(library_.CodeStreamGetSubCodeStream(stream_, &region_, &view));
      source = region_;
    }
    nvimgcodecImageInfo_t& wanted = info_;
    wanted.struct_next = nullptr;
    wanted.chroma_subsampling = NVIMGCODEC_SAMPLING_NONE;
    wanted.sample_format = NVIMGCODEC_SAMPLEFORMAT_I_RGB;
    wanted.color_spec = NVIMGCODEC_COLORSPEC_SRGB;
    if (model == ImageType::kGray) {
      wanted.sample_format = NVIMGCODEC_SAMPLEFORMAT_I_Y;
      wanted.color_spec = NVIMGCODEC_COLORSPEC_GRAY;
    } else if (model == ImageType::kAnyData) {
      wanted.sample_format = NVIMGCODEC_SAMPLEFORMAT_I_UNCHANGED;
      wanted.color_spec = NVIMGCODEC_COLORSPEC_UNCHANGED;
    }
    nvimgcodecImagePlaneInfo_t& plane = wanted.plane_info[0];
    wanted.num_planes = 1;
    plane.height = static_cast<uint32_t>(part.height);
    plane.width = static_cast<uint32_t>(part.width);
    plane.num_channels = static_cast<uint32_t>(channels);
    plane.row_stride = static_cast<size_t>(part.width * channels * size_of(sample_type));
    plane.precision = 0;
    wanted.buffer = buffer;
    wanted.buffer_kind = NVIMGCODEC_IMAGE_BUFFER_KIND_STRIDED_HOST;
    wanted.cuda_stream = nullptr;
    check(library_.ImageCreate(library_.instance, &image_, &wanted));

    nvimgcodecDecodeParams_t parameters;
    start_struct(parameters, NVIMGCODEC_STRUCTURE_TYPE_DECODE_PARAMS);
    parameters.apply_exif_orientation = 0;
    nvimgcodecFuture_t future = nullptr;
    check(library_.DecoderDecode(decoder(fast_dct), &source, &image_, 1, &parameters, &future));
    nvimgcodecProcessingStatus_t processing = NVIMGCODEC_PROCESSING_STATUS_UNKNOWN;
    size_t count = 1;
    nvimgcodecStatus_t status = library_.FutureWaitForAll(future);
    if (status == NVIMGCODEC_STATUS_SUCCESS)
      status = library_.FutureGetProcessingStatus(future, &processing, &count);
    library_.FutureDestroy(future);
    if (status != NVIMGCODEC_STATUS_SUCCESS || processing != NVIMGCODEC_PROCESSING_STATUS_SUCCESS)
      throw std::runtime_error(describe("the file must be a sound image", status, processing));
  }

  // Memory for pixels that are on their way to the output.
  uint8_t* pixels(size_t count) { return scratch_.get<uint8_t>(0, count); }

 private:
  void check(nvimgcodecStatus_t status) {
    if (status != NVIMGCODEC_STATUS_SUCCESS)
      throw std::runtime_error(
          describe("the file must be a sound image", status, NVIMGCODEC_PROCESSING_STATUS_UNKNOWN));
  }

  // The choice of transform is a property of a decoder.
  nvimgcodecDecoder_t decoder(bool fast_dct) {
    nvimgcodecDecoder_t& result = decoders_[fast_dct];
    if (result == nullptr) {
      nvimgcodecBackend_t backend;
      start_struct(backend, NVIMGCODEC_STRUCTURE_TYPE_BACKEND);
      start_struct(backend.params, NVIMGCODEC_STRUCTURE_TYPE_BACKEND_PARAMS);
      backend.kind = NVIMGCODEC_BACKEND_KIND_CPU_ONLY;
      backend.params.load_hint = 1.0f;
      backend.params.load_hint_policy = NVIMGCODEC_LOAD_HINT_POLICY_FIXED;
      nvimgcodecExecutionParams_t execution;
      start_struct(execution, NVIMGCODEC_STRUCTURE_TYPE_EXECUTION_PARAMS);
      execution.executor = &executor_;
      execution.max_num_cpu_threads = 1;
      execution.device_id = NVIMGCODEC_DEVICE_CPU_ONLY;
      execution.num_backends = 1;
      execution.backends = &backend;
      check(library_.DecoderCreate(
          library_.instance, &result, &execution,
          fast_dct ? ":fancy_upsampling=1 :fast_idct=1" : ":fancy_upsampling=1 :fast_idct=0"));
    }
    return result;
  }

  const CodecLibrary& library_;
  nvimgcodecExecutorDesc_t executor_;
  nvimgcodecDecoder_t decoders_[2] = {nullptr, nullptr};
  nvimgcodecCodeStream_t stream_ = nullptr;
  nvimgcodecCodeStream_t region_ = nullptr;
  nvimgcodecImage_t image_ = nullptr;
  Scratch scratch_;
  nvimgcodecImageInfo_t info_;
};

}  // namespace

ImageInfo peek_with_nvimgcodec(const EncodedImage& encoded, const CodecLibraryPaths& paths) {
  return ThreadDecoder::of_this_thread(paths).open(encoded);
}

void decode_with_nvimgcodec(const EncodedImage& encoded, const ImageRequest& request,
                            const CodecLibraryPaths& paths, ImageSink& sink) {
  ThreadDecoder& decoder = ThreadDecoder::of_this_thread(paths);
  const ImageInfo info = decoder.open(encoded);
  const Orientation orientation = request.adjust_orientation ? info.orientation : Orientation{};
  const CropWindow part = choose_stored_region(sink, info.height, info.width, orientation);
  // Whether a file counts as damaged must not depend on the region: one that was cut off is read
  // to where it ends.
  const bool whole =
      (part.height == info.height && part.width == info.width) || !seems_complete(encoded, info);

  const ColourPlan plan = plan_colours(request.output_type, info);
  StoredPixels stored;
  stored.sample_type = info.sample_type;
  stored.channels = plan.cmyk_to_grey ? 1 : plan.channels;
  visit_type(info.sample_type, [&](auto zero) { stored.range = full_range<decltype(zero)>(); });
  PixelWriter writer(stored, plan.change, request.dtype, orientation, part.height, part.width);
  void* output = allocate_result(sink, part, orientation, stored.channels);
  writer.set_output(output);

  const bool fast_dct = request.fast_dct && orientation.is_identity();
  const CropWindow decoded = whole ? CropWindow{0, 0, info.height, info.width} : part;
  const int64_t pixel = plan.channels * size_of(stored.sample_type);
  const int64_t row = decoded.width * pixel;
  const bool direct = writer.is_copy() && !plan.cmyk_to_grey && decoded.width == part.width &&
                      decoded.height == part.height;
  uint8_t* pixels = direct ? static_cast<uint8_t*>(output)
                           : decoder.pixels(static_cast<size_t>(row * decoded.height));
  decoder.decode(decoded, whole, plan.model, plan.channels, stored.sample_type, fast_dct, pixels);
  if (direct) return;
  pixels += (part.y - decoded.y) * row + (part.x - decoded.x) * pixel;
  if (plan.cmyk_to_grey)
    for (int64_t y = 0; y < part.height; ++y)
      rgb_row_to_truncated_grey(pixels + y * row, part.width, pixels + y * row);
  writer.write(pixels, row, 0, part.height);
}

#else

namespace {
[[noreturn]] void refuse() {
  throw std::runtime_error(
      "this format needs nvImageCodec (got a build without it). Build with "
      "nvidia-nvimgcodec-cu12.");
}
}  // namespace

ImageInfo peek_with_nvimgcodec(const EncodedImage&, const CodecLibraryPaths&) { refuse(); }

void decode_with_nvimgcodec(const EncodedImage&, const ImageRequest&, const CodecLibraryPaths&,
                            ImageSink&) {
  refuse();
}

#endif

}  // namespace dali_core
