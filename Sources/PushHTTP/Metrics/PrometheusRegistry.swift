package import Metrics
import Synchronization

/// Keeps what the program reports through swift-metrics, to be read in Prometheus' text format. Counters end in `_total`;
/// timers are histograms in seconds.
package final class PrometheusRegistry: MetricsFactory {
    private struct Key: Hashable {
        var name: String
        var labels: [String: String]

        init(_ name: String, _ dimensions: [(String, String)]) {
            self.name = name
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
        let key = Key(label.hasSuffix("_total") ? label : "\(label)_total", dimensions)
        return self.state.withLock { state in
            let value = state.counters[key] ?? CounterValue()
            state.counters[key] = value
            return value
        }
    }

    /// Only the latest value of a recorder is kept.
    package func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        self.state.withLock { state in
            let key = Key(label, dimensions)
            let value = state.gauges[key] ?? GaugeValue()
            state.gauges[key] = value
            return value
        }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let key = Key(label.hasSuffix("_seconds") ? label : "\(label)_seconds", dimensions)
        return self.state.withLock { state in
            let value = state.histograms[key] ?? HistogramValue()
            state.histograms[key] = value
            return value
        }
    }

    // What was counted stays, whoever counted it is gone.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Text format 0.0.4 of Prometheus, names in alphabetical order.
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

/// Only goes up.
private final class CounterValue: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { self.count.load(ordering: .relaxed) }

    func increment(by amount: Int64) { self.count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { self.count.store(0, ordering: .relaxed) }
}

/// The latest value.
private final class GaugeValue: RecorderHandler {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: self.bits.load(ordering: .relaxed)) }

    func record(_ value: Int64) { self.record(Double(value)) }
    func record(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }
}

/// Durations, counted by size.
private final class HistogramValue: TimerHandler {
    struct Snapshot {
        /// One more than there are bounds.
        var counts = [Int](repeating: 0, count: HistogramValue.bounds.count + 1)
        /// In seconds.
        var sum: Double = 0
    }

    /// In seconds.
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
