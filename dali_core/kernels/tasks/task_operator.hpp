// Base classes of most operators. They infer the output of a sample once, and describe the work on
// it by a plain struct, a task, which the host's loop and the device's kernel both take:
//
//   class Scale : public KernelOperator<Scale, ScaleTask> {
//    public:
//     static constexpr auto kKernel = "scale_elements";  // takes tasks and their number
//
//     explicit Scale(const OperatorConfig& config) : factor_(config, "factor") {}
//
//     struct Result : Inferred {
//       float factor;
//     };
//     Result infer(const SampleContext& sample) const {
//       const Tensor& input = sample.input(0);
//       return {{input.type, input.shape, input.layout}, factor_.at(sample)};
//     }
//     ScaleTask task(const Result& result, TaskData& data) const {
//       return {data.input().data, data.output().data, data.output().num_elements(), ...};
//     }
//     static int64_t threads_for(const ScaleTask& task) { return task.count; }
//     static void compute(const ScaleTask& task);  // on the host
//    private:
//     Argument<float> factor_;
//   };
//
// An operator whose code for the host is another, or that has several kernels, derives from
// TaskOperator. Where it runs for each frame (see each_frame.hpp), frames have a task each.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/each_frame.hpp"
#include "dali_core/frame_numbers.hpp"
#include "dali_core/kernels/copy/device_row_copies.hpp"

namespace dali_core {

// Where the data of a sample are, or of one frame of it: on the host, or on the device.
class TaskData {
 public:
  struct SharedArray {
    const void* host = nullptr;
    const void* device = nullptr;
  };

  TaskData(const SampleContext& sample, Tensor& output) : sample_(sample), output_(output) {}
  TaskData(DeviceBatch& batch, SharedArray& shared, const SampleContext& sample, Tensor& output)
      : batch_(&batch), shared_(&shared), sample_(sample), output_(output) {}

  // Arguments, and shapes and types of inputs.
  const SampleContext& sample() const { return sample_; }
  Tensor& output() const { return output_; }

  Tensor input(int number = 0) {
    Tensor tensor = sample_.input(number);
    if (batch_) tensor.data = const_cast<void*>(data_on_device(*batch_, tensor));
    return tensor;
  }

  // What a task refers to: a member of the operator or of the result. Samples that follow each
  // other share it.
  template <typename T>
  const T* array(const std::vector<T>& values) {
    if (!shared_) return values.data();
    if (shared_->host != values.data()) {
      const UploadedArray<T> uploaded = batch_->upload<T>(values.size());
      std::copy(values.begin(), values.end(), uploaded.host);
      *shared_ = {values.data(), uploaded.device};
    }
    return static_cast<const T*>(shared_->device);
  }

  // Memory on the device for what one kernel leaves to the next; null on the host.
  template <typename T>
  T* scratch(int64_t count) {
    if (!batch_) return nullptr;
    return static_cast<T*>(batch_->scratch(static_cast<size_t>(count) * sizeof(T)));
  }

  // The same for one number, which has a value already.
  template <typename T>
  T* variable(T value) {
    if (!batch_) return nullptr;
    const UploadedArray<T> uploaded = batch_->upload<T>(1);
    *uploaded.host = value;
    return const_cast<T*>(uploaded.device);
  }

 private:
  DeviceBatch* batch_ = nullptr;
  SharedArray* shared_ = nullptr;
  const SampleContext& sample_;
  Tensor& output_;
};

// Tasks of one kernel, all in one launch.
template <typename Task>
class KernelTasks {
 public:
  // `threads` is how many threads have something to do for the task.
  void add(const Task& task, int64_t threads) {
    tasks_.push_back(task);
    largest_ = std::max(largest_, threads);
  }

  const std::vector<Task>& all() const { return tasks_; }

  void launch(DeviceBatch& batch, const char* kernel) const {
    constexpr unsigned kThreads = 256;
    launch_tasks(batch, kernel, tasks_, blocks_for(largest_, kThreads), kThreads);
  }

  // One block for each task.
  void launch_single_blocks(DeviceBatch& batch, const char* kernel, unsigned threads) const {
    launch_tasks(batch, kernel, tasks_, largest_ > 0, threads);
  }

 private:
  std::vector<Task> tasks_;
  int64_t largest_ = 0;
};

// Needs `Tasks`, a class with `launch(batch)`; `infer(sample)`, which returns Inferred or what
// derives from it; and `add(result, data, tasks)`, which describes the work on a sample.
template <typename Self>
class TaskOperator : public Operator {
 public:
  void plan(DeviceBatch& batch) const override {
    using Result = decltype(self().infer(batch.sample(0)));
    std::vector<std::vector<Result>> results(static_cast<size_t>(batch.size()));
    batch.for_each([&](int i, SampleContext& sample) {
      infer_frames(sample, results[i]);
      batch.declare(i, whole(sample, results[i]));
    });
    batch.allocate();
    typename Self::Tasks tasks;
    RowCopies copies;
    TaskData::SharedArray shared;
    batch.for_each([&](int i, SampleContext& sample) {
      Tensor& output = batch.output(0, i);
      if (stays(results[i]) || output.num_elements() == 0) return;
      if (!runs_by_frames(sample)) {
        add_part({batch, shared, sample, output}, results[i].front(), tasks, copies);
        return;
      }
      const SampleFrames frames(sample);
      for (int64_t number = 0; number < frames.count(); ++number)
        frames.visit(number, [&](const SampleContext& frame) {
          Tensor part = SampleFrames::slice(output, number);
          add_part({batch, shared, frame, part}, results[i][static_cast<size_t>(number)], tasks,
                   copies);
        });
    });
    tasks.launch(batch);
    copies.launch(batch);
  }

 protected:
  const Self& self() const { return static_cast<const Self&>(*this); }

 private:
  static bool runs_by_frames(const SampleContext& sample) {
    if (std::is_base_of_v<EachFrame, Self> && is_per_frame(sample.input(0))) return true;
    return std::is_base_of_v<PixelStep, Self> && SampleFrames::have_arguments(sample);
  }

  template <typename Result>
  void infer_frames(const SampleContext& sample, std::vector<Result>& results) const {
    if (runs_by_frames(sample)) {
      const SampleFrames frames(sample);
      for (int64_t number = 0; number < frames.count(); ++number)
        frames.visit(number, [&](const SampleContext& frame) {
          results.push_back(self().infer(frame));
          SampleFrames::check_alike(results.front().type, results.front().shape,
                                    results.back().type, results.back().shape);
        });
    } else {
      results.push_back(self().infer(sample));
    }
  }

  template <typename Result>
  static bool stays(const std::vector<Result>& results) {
    return std::all_of(results.begin(), results.end(),
                       [](const Result& result) { return result.forwarded >= 0; });
  }

  // What the sample is as a whole: its frames are of one type and shape.
  template <typename Result>
  static Inferred whole(const SampleContext& sample, const std::vector<Result>& results) {
    Inferred all = results.front();
    if (!stays(results)) all.forwarded = -1;
    if (runs_by_frames(sample)) {
      all.shape = {static_cast<int64_t>(results.size())};
      const Shape& frame = results.front().shape;
      for (int i = 0; i < frame.ndim; ++i) all.shape.push_back(frame[i]);
      all.layout = Layout(("F" + std::string(all.layout.c_str())).c_str());
    }
    return all;
  }

  template <typename Result, typename Tasks>
  void add_part(TaskData data, const Result& result, Tasks& tasks, RowCopies& copies) const {
    const Tensor& output = data.output();
    if (result.forwarded < 0)
      self().add(result, data, tasks);
    else  // one frame among others that change
      copies.add(data.input(result.forwarded).data, output.data, output.num_bytes());
  }
};

// Needs `kKernel`, `infer(sample)`, `task(result, data)`, `threads_for(task)` and `compute(task)`.
template <typename Self, typename Task>
class KernelOperator : public TaskOperator<Self> {
 public:
  void run(SampleContext& sample) const override {
    const auto result = self().infer(sample);
    Tensor* const output = sample.output(result);
    if (output == nullptr || output->num_elements() == 0) return;
    TaskData data(sample, *output);
    self().compute(self().task(result, data));
  }

  struct Tasks : KernelTasks<Task> {
    void launch(DeviceBatch& batch) const { KernelTasks<Task>::launch(batch, Self::kKernel); }
  };

  template <typename Result>
  void add(const Result& result, TaskData& data, KernelTasks<Task>& tasks) const {
    const Task task = self().task(result, data);
    tasks.add(task, self().threads_for(task));
  }

 protected:
  using TaskOperator<Self>::self;
};

}  // namespace dali_core
