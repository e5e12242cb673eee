#include "dali_core/native_io/image_decoding/nvimgcodec_session.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

#include <stdexcept>
#include <string>

namespace dali_core {
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

std::string reason_of(nvimgcodecStatus_t status, nvimgcodecProcessingStatus_t processing) {
  const std::string message = take_codec_message();
  if (!message.empty()) return message;
  if (status == NVIMGCODEC_STATUS_CODESTREAM_UNSUPPORTED) return "an unknown format";
  if (status != NVIMGCODEC_STATUS_SUCCESS) return "status " + std::to_string(status);
  if (processing == NVIMGCODEC_PROCESSING_STATUS_FAIL) return "data that its codec cannot read";
  return "processing status " + std::to_string(processing);
}

[[noreturn]] void refuse(
    const char* what, nvimgcodecStatus_t status,
    nvimgcodecProcessingStatus_t processing = NVIMGCODEC_PROCESSING_STATUS_UNKNOWN) {
  throw std::runtime_error(std::string(what) + " (got: " + reason_of(status, processing) +
                           "). The file is damaged, or of a kind that is not supported.");
}

void check(nvimgcodecStatus_t status) {
  if (status != NVIMGCODEC_STATUS_SUCCESS) refuse("the file must be a sound image", status);
}

}  // namespace

NvimgcodecSession::NvimgcodecSession(const CodecLibrary& library) : library_(library) {
  start_struct(executor_, NVIMGCODEC_STRUCTURE_TYPE_EXECUTOR_DESC);
  executor_.schedule = InlineExecutor::schedule;
  executor_.run = InlineExecutor::proceed;
  executor_.wait = InlineExecutor::proceed;
  executor_.getNumThreads = InlineExecutor::num_threads;
}

NvimgcodecSession::~NvimgcodecSession() {
  if (image_) library_.ImageDestroy(image_);
  if (region_) library_.CodeStreamDestroy(region_);
  if (stream_) library_.CodeStreamDestroy(stream_);
  for (nvimgcodecDecoder_t decoder : decoders_)
    if (decoder) library_.DecoderDestroy(decoder);
}

ImageInfo NvimgcodecSession::open(const EncodedImage& encoded) {
  take_codec_message();
  nvimgcodecStatus_t status = library_.CodeStreamCreateFromHostMem(
      library_.instance, &stream_, encoded.data, encoded.size, nullptr);
  start_struct(info_, NVIMGCODEC_STRUCTURE_TYPE_IMAGE_INFO);
  if (status == NVIMGCODEC_STATUS_SUCCESS)
    status = library_.CodeStreamGetImageInfo(stream_, &info_);
  if (status != NVIMGCODEC_STATUS_SUCCESS) refuse("the bytes must be an image file", status);
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

uint8_t* NvimgcodecSession::decode(const CodecRequest& request, void* output) {
  const CropWindow& part = request.part;
  const int channels = request.channels;
  uint8_t* const pixels =
      output ? static_cast<uint8_t*>(output) : scratch_.get<uint8_t>(0, request.num_bytes());
  nvimgcodecCodeStream_t source = stream_;
  if (!request.is_whole) {
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
  if (request.model == ImageType::kGray) {
    wanted.sample_format = NVIMGCODEC_SAMPLEFORMAT_I_Y;
    wanted.color_spec = NVIMGCODEC_COLORSPEC_GRAY;
  } else if (request.model == ImageType::kAnyData) {
    wanted.sample_format = NVIMGCODEC_SAMPLEFORMAT_I_UNCHANGED;
    wanted.color_spec = NVIMGCODEC_COLORSPEC_UNCHANGED;
  }
  nvimgcodecImagePlaneInfo_t& plane = wanted.plane_info[0];
  wanted.num_planes = 1;
  plane.height = static_cast<uint32_t>(part.height);
  plane.width = static_cast<uint32_t>(part.width);
  plane.num_channels = static_cast<uint32_t>(channels);
  plane.row_stride = static_cast<size_t>(part.width * channels * size_of(request.sample_type));
  plane.precision = 0;
  wanted.buffer = pixels;
  wanted.buffer_kind = NVIMGCODEC_IMAGE_BUFFER_KIND_STRIDED_HOST;
  wanted.cuda_stream = nullptr;
  check(library_.ImageCreate(library_.instance, &image_, &wanted));

  nvimgcodecDecodeParams_t parameters;
  start_struct(parameters, NVIMGCODEC_STRUCTURE_TYPE_DECODE_PARAMS);
  parameters.apply_exif_orientation = 0;
  nvimgcodecFuture_t future = nullptr;
  check(
      library_.DecoderDecode(decoder(request.fast_dct), &source, &image_, 1, &parameters, &future));
  nvimgcodecProcessingStatus_t processing = NVIMGCODEC_PROCESSING_STATUS_UNKNOWN;
  size_t count = 1;
  nvimgcodecStatus_t status = library_.FutureWaitForAll(future);
  if (status == NVIMGCODEC_STATUS_SUCCESS)
    status = library_.FutureGetProcessingStatus(future, &processing, &count);
  library_.FutureDestroy(future);
  if (status != NVIMGCODEC_STATUS_SUCCESS || processing != NVIMGCODEC_PROCESSING_STATUS_SUCCESS)
    refuse("the file must be a sound image", status, processing);
  return pixels;
}

nvimgcodecDecoder_t NvimgcodecSession::decoder(bool fast_dct) {
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

}  // namespace dali_core

#endif
