package import Metrics
import Synchronization

/// The help text of a metric of a ``PrometheusRegistry``, and the buckets of a histogram.
package struct MetricDescription: Hashable, Sendable {
    /// The default upper bounds of a histogram's buckets, in seconds, which suit requests of up to 10 s.
    package static let requestBuckets: [Double] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// The name of the metric, including its suffix.
    package var name: String
    package var help: String
    /// The upper bounds of the buckets in seconds, in ascending order. An additional bucket counts longer durations.
    package var buckets: [Double]

    package init(_ name: String, _ help: String, buckets: [Double] = Self.requestBuckets) {
        (self.name, self.help, self.buckets) = (name, help, buckets)
    }
}

/// Collects the metrics that are reported through swift-metrics, for the Prometheus text format.
///
/// Names of counters end in `_total`. Timers are reported as histograms in seconds, and their names end in `_seconds`.
/// A recorder keeps only its latest value. A metric without a description has no help text.
package final class PrometheusRegistry: MetricsFactory {
    /// A metric's name and labels. All reporters with the same key share one value.
    private struct Key: Hashable {
        let name: String
        let kind: String
        let labels: [String: String]
    }

    private struct State {
        var metrics: [Key: any PrometheusMetric] = [:]
        var descriptions: [String: MetricDescription] = [:]
    }

    private let state = Mutex(State())

    package init(_ descriptions: [MetricDescription] = []) { self.describe(descriptions) }

    /// Adds descriptions. The description of a histogram must be added before the histogram is created.
    package func describe(_ descriptions: [MetricDescription]) {
        self.state.withLock { state in
            for description in descriptions { state.descriptions[description.name] = description }
        }
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

    /// Returns the metric with a name and labels, and creates it if there is none.
    /// - Parameter suffix: The suffix that is appended to names that lack it.
    private func metric<Metric: PrometheusMetric>(
        _ name: String,
        suffix: String,
        _ dimensions: [(String, String)],
        _ type: Metric.Type
    ) -> Metric {
        let name = name.hasSuffix(suffix) ? name : name + suffix
        let key = Key(name: name, kind: Metric.kind, labels: Dictionary(dimensions) { $1 })
        return self.state.withLock { state in
            if let known = state.metrics[key] as? Metric { return known }
            let new = Metric(buckets: state.descriptions[name]?.buckets ?? MetricDescription.requestBuckets)
            state.metrics[key] = new
            return new
        }
    }

    // A metric keeps its value after its reporter is destroyed.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// All metrics in the Prometheus text format 0.0.4, sorted by name and labels.
    package var text: String {
        let state = self.state.withLock { $0 }
        let metrics = state.metrics.map { key, metric in
            (key: key, labels: PrometheusText.labels(key.labels), metric: metric)
        }
        var (text, last) = ("", "")
        for (key, labels, metric) in metrics.sorted(by: { ($0.key.name, $0.labels) < ($1.key.name, $1.labels) }) {
            let help = state.descriptions[key.name]?.help
            if key.name != last { text += PrometheusText.header(key.name, help, key.kind) }
            text += metric.lines(key.name, labels, key.labels)
            last = key.name
        }
        return text
    }
}

/// A value that is reported through swift-metrics and can be written in the text format.
private protocol PrometheusMetric: AnyObject, Sendable {
    static var kind: String { get }

    /// Creates a metric with the value 0. Only a histogram uses `buckets`, the upper bounds of its buckets.
    init(buckets: [Double])

    /// Returns the lines of the metric in the text format.
    /// - Parameters:
    ///   - labels: The labels, already encoded in the text format.
    ///   - pairs: The same labels as pairs, for lines with an additional label.
    func lines(_ name: String, _ labels: String, _ pairs: [String: String]) -> String
}

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

private final class HistogramValue: TimerHandler, PrometheusMetric {
    static let kind = "histogram"

    /// The upper bounds of the buckets, in seconds.
    private let bounds: [Double]
    /// The number of durations in each bucket, and the sum of all durations in seconds. The last bucket is unbounded.
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

/// Formats values in the Prometheus text format 0.0.4.
package enum PrometheusText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    static func header(_ name: String, _ help: String?, _ kind: String) -> String {
        let help = help.map { "# HELP \(name) \($0)\n" } ?? ""
        return "\(help)# TYPE \(name) \(kind)\n"
    }

    /// Returns the text of a number. A whole number has no fraction.
    static func number(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }

    static func bound(_ value: Double) -> String { "\(value)" }

    static func labels(_ labels: [String: String]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static func escaped(_ value: String) -> String {
        let escapes: [UnicodeScalar: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]
        return value.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }
}
