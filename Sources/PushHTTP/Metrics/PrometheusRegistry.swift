package import Metrics
import Synchronization

/// Keeps the metrics that are reported through swift-metrics, for the text format of Prometheus.
///
/// Names of counters end in `_total`. Timers are histograms in seconds, and their names end in `_seconds`. Of a
/// recorder only the latest value is kept. A metric without a description has no help text.
package final class PrometheusRegistry: MetricsFactory {
    /// A name with labels. All reporters of one key share its value.
    private struct Key: Hashable {
        let name: String
        /// The kind of the metric in the text format.
        let kind: String
        let labels: [String: String]
    }

    private let metrics = Mutex<[Key: any PrometheusMetric]>([:])
    /// The descriptions of metrics by name.
    private let descriptions: [String: MetricDescription]

    package init(_ descriptions: [MetricDescription] = []) {
        self.descriptions = Dictionary(descriptions.map { ($0.name, $0) }) { $1 }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        self.metric(label, suffix: "_total", dimensions, CounterValue.self)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        self.metric(label, suffix: "", dimensions, GaugeValue.self)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        self.metric(label, suffix: "_seconds", dimensions, HistogramValue.self)
    }

    /// Returns the metric of a name and labels, after adding it if it is new.
    ///
    /// - Parameter suffix: Is appended to names that do not have it.
    private func metric<Metric: PrometheusMetric>(
        _ name: String,
        suffix: String,
        _ dimensions: [(String, String)],
        _ type: Metric.Type
    ) -> Metric {
        let name = name.hasSuffix(suffix) ? name : name + suffix
        let key = Key(name: name, kind: Metric.kind, labels: Dictionary(dimensions) { $1 })
        return self.metrics.withLock { metrics in
            if let known = metrics[key] as? Metric { return known }
            let new = Metric(buckets: self.descriptions[name]?.buckets ?? MetricDescription.requestBuckets)
            metrics[key] = new
            return new
        }
    }

    // Values stay when their reporter is gone.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// All metrics in the text format 0.0.4 of Prometheus, names and labels in alphabetical order.
    package var text: String {
        let metrics = self.metrics.withLock { $0 }.map { key, metric in
            (key: key, labels: PrometheusText.labels(key.labels), metric: metric)
        }
        var (text, last) = ("", "")
        for (key, labels, metric) in metrics.sorted(by: { ($0.key.name, $0.labels) < ($1.key.name, $1.labels) }) {
            if key.name != last { text += PrometheusText.header(key.name, self.descriptions[key.name]?.help, key.kind) }
            text += metric.lines(key.name, labels, key.labels)
            last = key.name
        }
        return text
    }
}

/// A value that is reported, with its form in the text format.
private protocol PrometheusMetric: AnyObject, Sendable {
    static var kind: String { get }

    /// - Parameter buckets: The upper bounds of a histogram.
    init(buckets: [Double])

    /// - Parameters:
    ///   - labels: The labels in the text format.
    ///   - pairs: The same labels, for lines that add another.
    func lines(_ name: String, _ labels: String, _ pairs: [String: String]) -> String
}

/// A value that only increases.
private final class CounterValue: CounterHandler, PrometheusMetric {
    static let kind = "counter"

    private let count = Atomic<Int64>(0)

    init(buckets: [Double]) {}

    func increment(by amount: Int64) { self.count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { self.count.store(0, ordering: .relaxed) }

    func lines(_ name: String, _ labels: String, _ pairs: [String: String]) -> String {
        "\(name)\(labels) \(self.count.load(ordering: .relaxed))\n"
    }
}

/// A latest value.
private final class GaugeValue: RecorderHandler, PrometheusMetric {
    static let kind = "gauge"

    private let bits = Atomic<UInt64>(0)

    init(buckets: [Double]) {}

    func record(_ value: Int64) { self.record(Double(value)) }
    func record(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }

    func lines(_ name: String, _ labels: String, _ pairs: [String: String]) -> String {
        "\(name)\(labels) \(PrometheusText.number(Double(bitPattern: self.bits.load(ordering: .relaxed))))\n"
    }
}

/// Durations in buckets.
private final class HistogramValue: TimerHandler, PrometheusMetric {
    static let kind = "histogram"

    /// The upper bounds of the buckets, in seconds.
    private let bounds: [Double]
    /// The durations of each bucket, and the sum of all in seconds. The last bucket has no bound.
    private let state: Mutex<(counts: [Int], sum: Double)>

    init(buckets: [Double]) {
        self.bounds = buckets
        self.state = Mutex((Array(repeating: 0, count: buckets.count + 1), 0))
    }

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(duration) / 1e9
        let index = self.bounds.firstIndex { seconds <= $0 } ?? self.bounds.count
        self.state.withLock { state in
            state.counts[index] += 1
            state.sum += seconds
        }
    }

    func preferDisplayUnit(_ unit: TimeUnit) {}

    func lines(_ name: String, _ labels: String, _ pairs: [String: String]) -> String {
        let (counts, sum) = self.state.withLock { $0 }
        var (text, total) = ("", 0)
        for (count, bound) in zip(counts, self.bounds.map(PrometheusText.bound) + ["+Inf"]) {
            total += count
            let bucket = PrometheusText.labels(pairs.merging(["le": bound]) { $1 })
            text += "\(name)_bucket\(bucket) \(total)\n"
        }
        return "\(text)\(name)_sum\(labels) \(PrometheusText.number(sum))\n\(name)_count\(labels) \(total)\n"
    }
}
