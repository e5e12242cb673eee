#include "dali_core/operators/video/native_worker/decoder.hpp"

#include <algorithm>
#include <new>

namespace dali_core {
namespace {

constexpr int64_t kNear = 3;       // packets between wanted frames that are decoded, not left out
constexpr int64_t kMaxAhead = 48;  // frames that are kept besides the wanted ones
constexpr int64_t kBytesAhead = 1 << 26;
constexpr int64_t kBytesReadAhead = 1 << 23;  // or as many frames as were asked for last, if more
constexpr int64_t kReadOn = 64;               // packets to read rather than to seek

// Decoding from a keyframe did not give a frame.
struct Missed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string packet_text(int64_t position) { return "its packet " + std::to_string(position); }

Frame make_frame() {
  Frame frame(::av_frame_alloc());
  if (!frame) throw std::bad_alloc();
  return frame;
}

}  // namespace

Decoder::Decoder(const std::string& path, std::shared_ptr<const PackedIndex> index, int num_threads)
    : path_(path),
      index_(std::move(index)),
      num_threads_(num_threads),
      is_timed_((index_->flags & PackedIndex::kHasTimestamps) != 0),
      may_skip_((index_->flags & PackedIndex::kMaySkip) != 0 && is_timed_),
      numbers_(static_cast<size_t>(index_->num_packets), -1),
      packet_(make_packet()) {
  for (size_t number = 0; number < index_->positions.size(); ++number)
    numbers_[static_cast<size_t>(index_->positions[number])] = static_cast<int32_t>(number);
  const auto& positions = index_->key_positions;
  for (size_t key = 0; key < positions.size(); ++key)
    key_of_pts_[index_->key_pts[key]] = positions[key];
  if (key_of_pts_.size() < std::set<int32_t>(positions.begin(), positions.end()).size())
    key_of_pts_.clear();
  const int64_t frame_bytes = 2 * index_->coded_width * index_->coded_height;
  ahead_ = std::max<int64_t>(1, std::min(kMaxAhead, kBytesAhead / frame_bytes));
  min_ahead_ = kBytesReadAhead / frame_bytes;
  open();
}

void Decoder::frames(const Numbers& wanted, const Take& take, bool is_sequential,
                     bool keeps_between) {
  follow(wanted, is_sequential);
  // Frames are divided where leaving out what is between them is worth a new start.
  Numbers group;
  int64_t last = -1;
  for (const int64_t number : wanted) {
    if (!group.empty() && index_->key_positions[key_of(number)] > last + kNear) {
      decode(group, take, is_sequential, keeps_between);
      group.clear();
      last = -1;
    }
    group.push_back(number);
    last = std::max<int64_t>(last, position_of(number));
  }
  if (!group.empty()) decode(group, take, is_sequential, keeps_between);
}

// Sees whether the video is read in order, without a gap.
void Decoder::follow(const Numbers& wanted, bool is_sequential) {
  const auto count = static_cast<int64_t>(wanted.size());
  const int64_t first = wanted.front(), last = wanted.back();
  // Requests of several threads may overtake each other.
  if (is_sequential && end_ - 2 * count <= first && last < end_) return;
  const bool is_next = first == end_ && count == last + 1 - first;
  const int64_t num_ahead = std::min(ahead_, std::max(min_ahead_, count));
  num_ahead_ = is_sequential && is_next ? static_cast<size_t>(num_ahead) : 0;
  end_ = last + 1;
}

bool Decoder::read_ahead() {
  if (!may_read_ahead()) return false;
  try {
    if (next_packet()) {
      send(false, {}, end_ - 1);
    } else {
      drain({}, end_ - 1, true);
    }
  } catch (const Missed& error) {
    throw VideoFileError(error.what());
  }
  return true;
}

// Number of the frame whose packet is at a position, or -1.
int64_t Decoder::number_at(int64_t position) const {
  return position < index_->num_packets ? numbers_[static_cast<size_t>(position)] : -1;
}

int32_t Decoder::position_of(int64_t number) const {
  return index_->positions[static_cast<size_t>(number)];
}

// The place in the list of keyframes of the one from which a frame is decoded.
size_t Decoder::key_of(int64_t number) const {
  const auto& keys = index_->keyframes;
  const auto after = std::upper_bound(keys.begin(), keys.end(), number);
  return static_cast<size_t>(after - keys.begin()) - 1;
}

void Decoder::decode(const Numbers& group, const Take& take, bool is_sequential, bool keeps) {
  size_t taken = 0;
  const auto feed_from = [&](bool keeps_now, bool may_skip_now) {
    feed({group.data() + taken, group.size() - taken, take, is_sequential, keeps_now, may_skip_now},
         taken);
  };
  const size_t key = key_of(group[0]);
  if (can_go_on(group)) {
    try {
      feed_from(keeps, true);
      return;
    } catch (const Missed&) {
      is_running_ = false;
    }
  }
  // A keyframe need not be what it says, so earlier ones are tried before giving up.
  for (size_t start = key;; start = start == key && key > 1 ? key - 1 : 0) {
    try {
      restart(start);
      feed_from(false, start == key);
      return;
    } catch (const Missed& error) {
      is_running_ = false;
      if (start == 0) throw VideoFileError(error.what());
    }
  }
}

// Whether the codec, as it stands, will give these frames before a new start would.
bool Decoder::can_go_on(const Numbers& group) const {
  bool has_late = false;
  for (const int64_t number : group) {
    if (waiting_.count(number) > 0) continue;
    if (!has_late) {
      if (!is_running_ || number <= last_given_) return false;
      if (index_->key_positions[key_of(number)] > next_ + kNear) return false;
      has_late = true;
    }
    if (skipped_.count(position_of(number)) > 0) return false;
  }
  return true;
}

// What follows reads packets and feeds the codec.

void Decoder::open() {
  waiting_.clear();
  codec_.reset();
  container_.reset();
  container_ = std::make_unique<Container>(path_);
  container_->leave_out_other_streams();
  const AVStream* stream = container_->stream();
  const AVCodec* kind = ::avcodec_find_decoder(stream->codecpar->codec_id);
  if (kind == nullptr) throw VideoFileError("its codec is not known to FFmpeg");
  codec_.reset(::avcodec_alloc_context3(kind));
  if (!codec_) throw std::bad_alloc();
  const int result = ::avcodec_parameters_to_context(codec_.get(), stream->codecpar);
  if (result < 0) throw VideoFileError("it cannot be opened: " + reason_of(result));
  codec_->pkt_timebase = stream->time_base;
  codec_->thread_count = num_threads_;
  codec_->thread_type = num_threads_ > 1 ? FF_THREAD_FRAME : FF_THREAD_SLICE;
  codec_->err_recognition |= AV_EF_EXPLODE;
  is_codec_open_ = false;
  has_packet_ = false;
  next_ = 0;
  is_running_ = false;
  first_ = 0;
  last_given_ = -1;
  skipped_.clear();
  count_ = 0;
}

// Whether there is a packet; it is in `packet_` then.
bool Decoder::next_packet() {
  if (std::exchange(has_packet_, false)) return true;
  const int result = container_->read(packet_.get());
  if (result == 0) return true;
  if (result == AVERROR_EOF) return false;
  throw VideoFileError("reading stops at packet " + std::to_string(next_) + ": " +
                       reason_of(result));
}

// Places the reader before a keyframe, and clears the codec.
void Decoder::restart(size_t key) {
  waiting_.clear();
  skipped_.clear();
  count_ = 0;
  place(key, index_->key_positions[key]);
  first_ = index_->keyframes[key];
  last_given_ = first_ - 1;
  if (is_codec_open_) ::avcodec_flush_buffers(codec_.get());
  is_running_ = true;
}

void Decoder::place(size_t key, int64_t position) {
  if (position == 0 && next_ == 0) return;
  const bool is_near = position >= next_ && position - next_ <= kReadOn;
  if (!is_near && !seek(key, position)) open();
  for (; next_ < position; ++next_)
    if (!next_packet())
      throw Missed("it ends at packet " + std::to_string(next_) + " of " +
                   std::to_string(index_->num_packets));
}

// Whether the next packet is now one at or before `position`, and its number is known.
bool Decoder::seek(size_t key, int64_t position) {
  if (key_of_pts_.empty() || !is_timed_) return false;
  const auto& times = container_->is_matroska() ? index_->key_pts : index_->key_dts;
  has_packet_ = false;
  if (container_->seek(times[key]) < 0) return false;
  while (next_packet()) {
    if (!(packet_->flags & AV_PKT_FLAG_KEY)) continue;
    const auto found = key_of_pts_.find(packet_->pts);
    if (found == key_of_pts_.end()) continue;
    if (found->second > position) return false;
    has_packet_ = true;
    next_ = found->second;
    return true;
  }
  return false;
}

// Decodes until all wanted frames have been taken, in their order; counts them in `taken`.
void Decoder::feed(const Feeding& feeding, size_t& taken) {
  const int64_t* wanted = feeding.wanted;
  const int64_t* const end = wanted + feeding.count;
  const int64_t first_wanted = *wanted, last = end[-1];
  std::set<int64_t> needed;  // positions
  for (const int64_t* number = wanted; number < end; ++number) needed.insert(position_of(*number));
  const int64_t last_needed = is_timed_ ? *needed.rbegin() : index_->num_packets;
  std::set<int64_t> kept(wanted, end);
  if (feeding.keeps)
    for (int64_t number = std::max(last_given_ + 1, first_wanted - ahead_); number < first_wanted;
         ++number)
      kept.insert(number);
  const int64_t oldest = first_wanted - (feeding.is_sequential ? ahead_ : 0);
  for (auto frame = waiting_.begin(); frame != waiting_.end() && frame->first < oldest;)
    // No request has asked for it.
    frame = kept.count(frame->first) > 0 ? std::next(frame) : waiting_.erase(frame);
  const bool skipping = feeding.may_skip && may_skip_;
  // Frames that may be asked for next are not left out.
  const int64_t unwanted_from = feeding.keeps ? first_wanted : 0;
  const int64_t unwanted_to = feeding.is_sequential ? last : static_cast<int64_t>(numbers_.size());
  for (; wanted < end; ++wanted) {
    const int64_t number = *wanted;
    const std::string missed = "its frame " + std::to_string(number) + " cannot be decoded";
    auto found = waiting_.find(number);
    for (; found == waiting_.end(); found = waiting_.find(number)) {
      if (last_given_ >= number) throw Missed(missed);
      const int64_t position = next_;
      if (!(position <= last_needed || feeding.is_sequential) || !next_packet()) {
        drain(kept, last, feeding.is_sequential);
        if (waiting_.count(number) == 0) throw Missed(missed);
        continue;
      }
      const int64_t shown = number_at(position);
      const bool skip = skipping && position < last_needed && needed.count(position) == 0 &&
                        shown >= unwanted_from && shown < unwanted_to;
      send(skip, kept, last);
    }
    const Frame frame = std::move(found->second);
    waiting_.erase(found);
    feeding.take(number, *frame);
    ++taken;
  }
}

// Sends the packet that was read to the codec, which may skip its frame, and keeps the frames that
// the codec returns.
void Decoder::send(bool skip, const std::set<int64_t>& kept, int64_t last) {
  const int64_t position = next_++;
  packet_->pts = position;
  codec_->skip_frame = skip ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
  if (skip) skipped_.insert(position);
  if (packet_->flags & AV_PKT_FLAG_CORRUPT)
    throw Missed(packet_text(position) + " is damaged, or cut off");
  std::vector<Frame> frames;
  const int result = receive_all(packet_.get(), frames);
  if (result < 0) {
    const int64_t number = number_at(position);
    // Shown before the keyframe, it refers to what is before that.
    if (number >= 0 && number < first_) return;
    throw Missed(packet_text(position) + " cannot be decoded: " + reason_of(result));
  }
  for (Frame& frame : frames) note(std::move(frame), kept, last);
}

// Gives the codec a packet, or none for the end, and takes all frames that it has. Gives an error
// or 0.
int Decoder::receive_all(const AVPacket* packet, std::vector<Frame>& frames) {
  if (!is_codec_open_) {
    const int result = ::avcodec_open2(codec_.get(), codec_->codec, nullptr);
    if (result < 0) return result;
    is_codec_open_ = true;
  }
  const int sent = ::avcodec_send_packet(codec_.get(), packet);
  if (sent < 0) return sent;
  while (true) {
    Frame frame = make_frame();
    const int result = ::avcodec_receive_frame(codec_.get(), frame.get());
    if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return 0;
    // What has come before stays sound; the next packet says what is wrong with it.
    if (result == AVERROR_INVALIDDATA && !frames.empty()) return 0;
    if (result < 0) return result;
    frames.push_back(std::move(frame));
  }
}

// Keeps a frame that the codec has given, if it is wanted or comes after those.
void Decoder::note(Frame frame, const std::set<int64_t>& kept, int64_t last) {
  int64_t number;
  if (is_timed_) {
    const int64_t position = frame->pts;
    if (position < 0 || position >= static_cast<int64_t>(numbers_.size())) return;
    number = numbers_[static_cast<size_t>(position)];
  } else {
    number = count_++;
  }
  if (number < first_) return;
  const bool is_kept = kept.count(number) > 0;
  const bool is_corrupt = frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT);
  if (is_corrupt && (is_kept || number > last))
    throw Missed("its frame " + std::to_string(number) + " is damaged");
  last_given_ = std::max(last_given_, number);
  if (is_kept || (number > last && number <= last + ahead_)) waiting_[number] = std::move(frame);
}

// Lets the codec give what it holds back. It has to be started again afterwards.
void Decoder::drain(const std::set<int64_t>& kept, int64_t last, bool is_sequential) {
  is_running_ = false;
  std::vector<Frame> frames;
  const int result = receive_all(nullptr, frames);
  if (result < 0) throw Missed("its last frames cannot be decoded: " + reason_of(result));
  // At the end of the file, those behind the wanted ones may be asked for next.
  for (Frame& frame : frames)
    note(std::move(frame), kept, is_sequential ? last : index_->num_packets);
}

}  // namespace dali_core
