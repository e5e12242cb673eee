// Decodes frames of one video by their numbers, exactly, by the rules of worker/decoder.py.
//
// Packets get their own number in the file in place of a time, and frames keep it through the
// codec. So each frame says which one it is, whatever the times in the file are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dali_core/operators/video/native_worker/container.hpp"
#include "dali_core/operators/video/native_worker/packed_index.hpp"

namespace dali_core {

struct FrameDeleter {
  void operator()(AVFrame* frame) const { ::av_frame_free(&frame); }
};
using Frame = std::unique_ptr<AVFrame, FrameDeleter>;

struct CodecDeleter {
  void operator()(AVCodecContext* codec) const { ::avcodec_free_context(&codec); }
};
using Codec = std::unique_ptr<AVCodecContext, CodecDeleter>;

// An open video.
class Decoder {
 public:
  // Called for each frame that was asked for, in this order.
  using Take = std::function<void(int64_t number, const AVFrame& frame)>;

  Decoder(const std::string& path, std::shared_ptr<const PackedIndex> index, int num_threads);

  int num_threads() const { return num_threads_; }
  const PackedIndex& index() const { return *index_; }

  // The number of decoded frames that no request has asked for.
  size_t num_waiting() const { return waiting_.size(); }

  // `wanted` is ascending, without repetitions. `is_sequential`: frames shortly behind these are
  // likely to be asked for next. `keeps_between`: so are those between the last ones and these.
  // Throws VideoFileError.
  void frames(const std::vector<int64_t>& wanted, const Take& take, bool is_sequential,
              bool keeps_between);

  // Whether `read_ahead` would decode something.
  bool may_read_ahead() const { return is_running_ && waiting_.size() < num_ahead_; }

  // Decodes one packet behind the frames that were asked for, if the video is read in order.
  // Returns whether there is more to decode, and memory for it. Throws VideoFileError, after which
  // the decoder is of no use.
  bool read_ahead();

 private:
  using Numbers = std::vector<int64_t>;

  struct Feeding {
    const int64_t* wanted;
    size_t count;
    const Take& take;
    bool is_sequential;
    bool keeps;
    bool may_skip;
  };

  void follow(const Numbers& wanted, bool is_sequential);
  int64_t number_at(int64_t position) const;
  int32_t position_of(int64_t number) const;
  size_t key_of(int64_t number) const;
  void decode(const Numbers& group, const Take& take, bool is_sequential, bool keeps);
  bool can_go_on(const Numbers& group) const;
  void open();
  void open_codec();
  bool next_packet();
  void restart(size_t key);
  void place(size_t key, int64_t position);
  bool seek(size_t key, int64_t position);
  void feed(const Feeding& feeding, size_t& taken);
  void send(bool skip, const std::set<int64_t>& kept, int64_t last);
  int receive_all(const AVPacket* packet, std::vector<Frame>& frames);
  void note(Frame frame, const std::set<int64_t>& kept, int64_t last);
  void drain(const std::set<int64_t>& kept, int64_t last, bool is_sequential);

  const std::string path_;
  const std::shared_ptr<const PackedIndex> index_;
  const int num_threads_;
  const bool is_timed_;
  const bool may_skip_;
  std::vector<int32_t> numbers_;  // of frames, by the position of their packet, or -1
  // Empty where times are not unique: then packets are counted from the start.
  std::unordered_map<int64_t, int32_t> key_of_pts_;
  int64_t ahead_;         // frames that are kept besides the wanted ones
  int64_t min_ahead_;     // of these, frames that are decoded ahead of requests
  int64_t end_ = 0;       // the frame behind the last one that was asked for
  size_t num_ahead_ = 0;  // frames to decode before they are asked for

  std::unique_ptr<Container> container_;
  Codec codec_;
  bool is_codec_open_ = false;
  Packet packet_;
  bool has_packet_ = false;  // that was read, and is the next one
  int64_t next_ = 0;         // number of the packet that comes next
  bool is_running_ = false;
  int64_t first_ = 0;  // number of the frame where the codec was started
  int64_t last_given_ = -1;
  std::set<int64_t> skipped_;
  std::map<int64_t, Frame> waiting_;
  int64_t count_ = 0;  // of frames, where they have no times
};

}  // namespace dali_core
