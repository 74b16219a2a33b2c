import Foundation
package import PushSupport
import PushTypes
import Synchronization

/// The sources of the metrics that `/metrics` reports. Their closures are called for each request.
package final class GaugeRegistry: Sendable {
    package struct Sample: Hashable, Sendable {
        package var labels: [String: String] = [:]
        package var value: Double

        package init(labels: [String: String] = [:], value: Int) { self.init(labels: labels, number: Double(value)) }

        package init(labels: [String: String] = [:], number: Double) { (self.labels, self.value) = (labels, number) }
    }

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

    private let metrics = Mutex<[Metric]>([])

    package init() {}

    /// Adds a value to a metric, computed for each request. The first value of a name creates the metric.
    package func add(
        _ name: String,
        _ help: String,
        _ kind: Kind = .gauge,
        labels: [String: String] = [:],
        value: @escaping @Sendable () async throws -> Int
    ) {
        self.add(name, help, kind) { [Sample(labels: labels, value: try await value())] }
    }

    /// Adds a metric whose samples are computed for each request. For an existing name, they are added to its metric.
    package func add(_ name: String, _ help: String, _ kind: Kind = .gauge, samples: @escaping Samples) {
        self.metrics.withLock { metrics in
            if let index = metrics.firstIndex(where: { $0.name == name }) {
                metrics[index].sources.append(samples)
            } else {
                metrics.append(Metric(name: name, help: help, kind: kind, sources: [samples]))
            }
        }
    }

    /// Adds the memory, the processor time and the open files of the process. A metric has no sample if the operating
    /// system does not report it.
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

    /// Returns all samples in the Prometheus text format 0.0.4, grouped by name, in the order in which they were added.
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

extension GaugeRegistry {
    /// Adds the metrics of all budgets of the process. A sample without an app label contains the amounts that are
    /// charged to no single app.
    package func add(_ budgets: BudgetRegistry) {
        let held = budgets.all.filter(\.limits.holds)
        self.add("martlet_resource_in_use", "The amount of a resource that is held, by app.") {
            held.flatMap { budget in Self.samples(budget) { $0.held } }
        }
        let queues = held.filter { $0.limits.waiting != nil }
        self.add("martlet_resource_waiting", "Requests that wait for a resource, by app.") {
            queues.flatMap { budget in Self.samples(budget) { $0.waiting } }
        }
        let help = "Requests for a resource that were refused, by app and by the level whose bound was reached."
        self.add("martlet_resource_refused_total", help, .counter) {
            budgets.all.flatMap { budget in
                budget.refusals.map { refusals in
                    var labels = Self.labels(budget, refusals.app)
                    labels["level"] = refusals.level.rawValue
                    return Sample(labels: labels, value: refusals.count)
                }
            }
        }
    }

    private static func samples(_ budget: Budget, _ amount: (Budget.Usage) -> Int) -> [Sample] {
        let usage = budget.usageByApp
        let none = usage.contains { $0.app == nil } ? [] : [Budget.Usage(app: nil)]
        return (none + usage).map { Sample(labels: Self.labels(budget, $0.app), value: amount($0)) }
    }

    private static func labels(_ budget: Budget, _ app: Topic?) -> [String: String] {
        var labels = ["resource": budget.resource.rawValue]
        labels["app"] = app?.name
        return labels
    }
}

/// The resources that this process uses, as reported by the operating system. Each is `nil` on systems without `/proc`.
package enum ProcessStatistics {
    /// The resident memory, in bytes, or `nil` if it is unknown.
    package static var residentMemory: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The processor time of all threads, in seconds, or `nil` if it is unknown.
    static var cpuSeconds: Double? {
        // The process name in parentheses may contain spaces. The times are the 12th and 13th fields after it.
        guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 12,
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The number of open files and sockets, or `nil` if it is unknown.
    static var openFiles: Int? { try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }

    /// The maximum number of open files and sockets, or `nil` if it is unknown.
    static var maximumOpenFiles: Int? {
        let text = try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        return line?.split(separator: " ").dropFirst(3).first.flatMap { Int($0) }
    }
}
