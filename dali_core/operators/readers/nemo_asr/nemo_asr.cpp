// fn.readers.nemo_asr: reads one entry of a list, and decodes it.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dali_core/native_io/files/open_file.hpp"
#include "dali_core/native_io/sound/decode_sound.hpp"

namespace dali_core {
namespace {

constexpr size_t kBytesSlot = 2;

}  // namespace

class NemoAsrReader : public Operator {
 public:
  explicit NemoAsrReader(const OperatorConfig& config)
      : reader_(config.reader),
        storage_(config),
        request_(config),
        sample_rate_(config.get<float>("sample_rate")),
        gives_rate_(config.get<bool>("read_sample_rate")),
        gives_text_(config.get<bool>("read_text")),
        gives_index_(config.get<bool>("read_idxs")),
        offsets_(config.get<std::vector<double>>("offsets")),
        durations_(config.get<std::vector<double>>("durations")),
        texts_(config.get<std::vector<std::string>>("texts")),
        indices_(config.get<std::vector<int64_t>>("indices")) {
    for (const std::string& file : config.get<std::vector<std::string>>("files"))
      files_.push_back(std::make_shared<const std::string>(file));
  }

  void run(SampleContext& sample) const override {
    const auto index = static_cast<size_t>(sample.reader_index(reader_));
    sample.set_source(files_[index]);
    const OpenFile opened(*files_[index], storage_);
    const int64_t size = opened.size();
    char* const bytes = sample.scratch<char>(kBytesSlot, static_cast<size_t>(size));
    opened.read(bytes, size);
    const DecodedRates rates = decode_sound(sample, request_, bytes, size, sample_rate_,
                                            {offsets_[index], durations_[index]});
    int next = 1;
    if (gives_rate_) *sample.output(next++, DataType::kFloat, {}).as<float>() = rates.file;
    if (gives_text_) {
      const std::string& text = texts_[index];
      Tensor& output = sample.output(next++, DataType::kUInt8, {static_cast<int64_t>(text.size())});
      if (!text.empty()) std::memcpy(output.data, text.data(), text.size());
    }
    if (gives_index_) *sample.output(next, DataType::kInt64, {1}).as<int64_t>() = indices_[index];
  }

 private:
  int reader_;
  Storage storage_;
  SoundRequest request_;
  float sample_rate_;
  bool gives_rate_, gives_text_, gives_index_;
  std::vector<std::shared_ptr<const std::string>> files_;
  std::vector<double> offsets_, durations_;
  std::vector<std::string> texts_;
  std::vector<int64_t> indices_;
};

DALI_CORE_REGISTER_OPERATOR("readers.nemo_asr", NemoAsrReader)

}  // namespace dali_core
