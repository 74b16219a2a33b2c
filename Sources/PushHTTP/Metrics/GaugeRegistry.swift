import Foundation
import Synchronization

/// The sources of the gauges at `/metrics`: closures that are called at each request.
package final class GaugeRegistry: Sendable {
    /// One value, with the labels that distinguish it from others of the same name.
    package struct Sample: Hashable, Sendable {
        package var labels: [String: String] = [:]
        package var value: Double

        package init(labels: [String: String] = [:], value: Int) {
            self.init(labels: labels, number: Double(value))
        }

        package init(labels: [String: String] = [:], number: Double) {
            (self.labels, self.value) = (labels, number)
        }
    }

    /// The kind of a metric in the text format.
    package enum Kind: String, Sendable {
        case gauge, counter
    }

    package typealias Samples = @Sendable () async throws -> [Sample]

    private struct Metric {
        let name: String
        let help: String
        let kind: Kind
        var sources: [Samples]
    }

    /// The metrics in the order of their addition.
    private let metrics = Mutex<[Metric]>([])

    package init() {}

    /// Adds a metric with one value, or one more value to a metric.
    package func add(
        _ name: String,
        _ help: String,
        _ kind: Kind = .gauge,
        labels: [String: String] = [:],
        value: @escaping @Sendable () async throws -> Int
    ) {
        self.add(name, help, kind) { [Sample(labels: labels, value: try await value())] }
    }

    /// Adds a metric whose samples come and go.
    package func add(_ name: String, _ help: String, _ kind: Kind = .gauge, samples: @escaping Samples) {
        self.metrics.withLock { metrics in
            if let index = metrics.firstIndex(where: { $0.name == name }) {
                metrics[index].sources.append(samples)
            } else {
                metrics.append(Metric(name: name, help: help, kind: kind, sources: [samples]))
            }
        }
    }

    /// Adds the memory, the processor time and the open files of the process; without a sample where the system does not
    /// report it.
    package func addProcess() {
        func add(_ name: String, _ help: String, _ kind: Kind = .gauge, _ value: @escaping @Sendable () -> Double?) {
            self.add(name, help, kind) { value().map { [Sample(number: $0)] } ?? [] }
        }
        add("process_resident_memory_bytes", "Memory of the process that is not swapped out.") {
            ProcessStatistics.residentMemory.map(Double.init)
        }
        add("process_cpu_seconds_total", "Processor time of the process.", .counter) { ProcessStatistics.cpuSeconds }
        add("process_open_fds", "Open files and sockets.") { ProcessStatistics.openFiles.map(Double.init) }
        add("process_max_fds", "The most files and sockets that may be open.") {
            ProcessStatistics.maximumOpenFiles.map(Double.init)
        }
        let start = Date.now.timeIntervalSince1970.rounded()
        add("process_start_time_seconds", "Time of the start, since 1970.") { start }
    }

    /// Returns all samples in the text format 0.0.4 of Prometheus, each name once and in the order of their addition.
    package func text() async throws -> String {
        var text = ""
        for metric in self.metrics.withLock({ $0 }) {
            text += PrometheusText.header(metric.name, metric.help, metric.kind.rawValue)
            for source in metric.sources {
                for sample in try await source() {
                    text +=
                        "\(metric.name)\(PrometheusText.labels(sample.labels)) \(PrometheusText.number(sample.value))\n"
                }
            }
        }
        return text
    }
}
