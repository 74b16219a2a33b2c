package import Metrics
import Synchronization

/// Keeps the metrics that are reported through swift-metrics, for the text format of Prometheus.
///
/// Names of counters end in `_total`. Timers are histograms in seconds, and their names end in `_seconds`.
package final class PrometheusRegistry: MetricsFactory {
    /// A name with labels.
    private struct Key: Hashable {
        var name: String
        var labels: [String: String]

        /// - Parameter suffix: is appended to names that do not have it.
        init(_ name: String, suffix: String, _ dimensions: [(String, String)]) {
            self.name = name.hasSuffix(suffix) ? name : name + suffix
            self.labels = Dictionary(dimensions) { $1 }
        }
    }

    private struct State {
        var counters: [Key: CounterValue] = [:]
        var gauges: [Key: GaugeValue] = [:]
        var histograms: [Key: HistogramValue] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let key = Key(label, suffix: "_total", dimensions)
        return self.state.withLock { $0.counters.value(for: key, orAdd: CounterValue()) }
    }

    /// Makes a gauge: only the latest value of a recorder is kept.
    package func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        let key = Key(label, suffix: "", dimensions)
        return self.state.withLock { $0.gauges.value(for: key, orAdd: GaugeValue()) }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let key = Key(label, suffix: "_seconds", dimensions)
        return self.state.withLock { $0.histograms.value(for: key, orAdd: HistogramValue()) }
    }

    // Values stay when their reporter is gone.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// All metrics in the text format 0.0.4 of Prometheus, names in alphabetical order.
    package var text: String {
        let state = self.state.withLock { $0 }
        let counters = Dictionary(grouping: state.counters) { $0.key.name }.map { name, samples in
            (name, Self.lines(name, "counter", samples.map { ($0.key.labels, "\($0.value.value)") }))
        }
        let gauges = Dictionary(grouping: state.gauges) { $0.key.name }.map { name, samples in
            (name, Self.lines(name, "gauge", samples.map { ($0.key.labels, PrometheusText.number($0.value.value)) }))
        }
        let histograms = Dictionary(grouping: state.histograms) { $0.key.name }.map { name, samples in
            (name, Self.histogram(name, samples.map { ($0.key.labels, $0.value.snapshot) }))
        }
        return (counters + gauges + histograms).sorted { $0.0 < $1.0 }.map(\.1).joined()
    }

    private static func lines(_ name: String, _ kind: String, _ samples: [([String: String], String)]) -> String {
        let lines = samples.map { "\(name)\(PrometheusText.labels($0.0)) \($0.1)\n" }
        return "# TYPE \(name) \(kind)\n\(lines.sorted().joined())"
    }

    private static func histogram(
        _ name: String,
        _ samples: [([String: String], HistogramValue.Snapshot)]
    ) -> String {
        var text = "# TYPE \(name) histogram\n"
        for (labels, value) in samples.sorted(by: { PrometheusText.labels($0.0) < PrometheusText.labels($1.0) }) {
            var total = 0
            for (index, count) in value.counts.enumerated() {
                total += count
                let bound = HistogramValue.bounds.indices.contains(index) ? "\(HistogramValue.bounds[index])" : "+Inf"
                let bucket = labels.merging(["le": bound]) { $1 }
                text += "\(name)_bucket\(PrometheusText.labels(bucket)) \(total)\n"
            }
            let suffix = PrometheusText.labels(labels)
            text += "\(name)_sum\(suffix) \(PrometheusText.number(value.sum))\n\(name)_count\(suffix) \(total)\n"
        }
        return text
    }
}

extension Dictionary {
    fileprivate mutating func value(for key: Key, orAdd new: @autoclosure () -> Value) -> Value {
        let value = self[key] ?? new()
        self[key] = value
        return value
    }
}

/// A value that only increases.
private final class CounterValue: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { self.count.load(ordering: .relaxed) }

    func increment(by amount: Int64) { self.count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { self.count.store(0, ordering: .relaxed) }
}

/// A latest value.
private final class GaugeValue: RecorderHandler {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: self.bits.load(ordering: .relaxed)) }

    func record(_ value: Int64) { self.record(Double(value)) }
    func record(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }
}

/// Durations in buckets.
private final class HistogramValue: TimerHandler {
    /// The counts and the sum at one time.
    struct Snapshot {
        /// The durations of each bucket; the last one is for durations beyond all bounds.
        var counts = [Int](repeating: 0, count: HistogramValue.bounds.count + 1)
        /// The sum of all durations, in seconds.
        var sum: Double = 0
    }

    /// The upper bounds of the buckets, in seconds.
    static let bounds: [Double] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private let state = Mutex(Snapshot())

    var snapshot: Snapshot { self.state.withLock { $0 } }

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(duration) / 1e9
        let index = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
        self.state.withLock { state in
            state.counts[index] += 1
            state.sum += seconds
        }
    }

    func preferDisplayUnit(_ unit: TimeUnit) {}
}
