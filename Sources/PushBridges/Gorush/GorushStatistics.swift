import Foundation
import PushHTTP
import PushSupport
import Synchronization

struct GorushCounters: Hashable, Sendable {
    /// The number of tokens that were accepted into the ledger or refused.
    var submitted = 0
    var succeeded = 0
    var failed = 0
    /// The number of requests, by the HTTP status of the response.
    var statuses: [Int: Int] = [:]
    /// The sum of the times from the arrival of each request to its response.
    var responseTime: Duration = .zero
}

/// The counters of all gorush bridges, by bridge name.
final class GorushStatistics: Sendable {
    private let counters = Mutex<[String: GorushCounters]>([:])
    let start = ContinuousClock.now

    subscript(bridge: String) -> GorushCounters { self.counters.withLock { $0[bridge] ?? GorushCounters() } }

    /// Changes the counters of a bridge. The bridge must exist.
    func count(_ bridge: String, _ change: (inout GorushCounters) -> Void) {
        self.counters.withLock { change(&$0[bridge, default: GorushCounters()]) }
    }
}

struct GorushReport: Sendable {
    let counters: GorushCounters
    let uptime: Duration

    var app: JSONValue {
        let none: JSONValue = .object(["push_success": .integer(0), "push_error": .integer(0)])
        return .object([
            "version": .string(MartletVersion.number), "busy_workers": .integer(0),
            "success_tasks": .integer(Int64(self.counters.succeeded)),
            "failure_tasks": .integer(Int64(self.counters.failed)),
            "submitted_tasks": .integer(Int64(self.counters.submitted)),
            "total_count": .integer(Int64(self.counters.submitted)), "android": none, "huawei": none,
            "ios": .object([
                "push_success": .integer(Int64(self.counters.succeeded)),
                "push_error": .integer(Int64(self.counters.failed)),
            ]),
        ])
    }

    /// The body of `/api/stat/go`. The provider has no Go runtime, so the values are those of its process.
    static var process: JSONValue {
        let memory = JSONValue.integer(Int64(ProcessStatistics.residentMemory ?? 0))
        return .object([
            "go_version": .string("martlet \(MartletVersion.number)"), "goroutine_num": .integer(0),
            "cpu_num": .integer(Int64(ProcessInfo.processInfo.activeProcessorCount)), "memory_alloc": memory,
            "memory_sys": memory,
        ])
    }

    var system: JSONValue {
        let total = self.counters.statuses.values.reduce(0, +)
        let average = total == 0 ? .zero : self.counters.responseTime / total
        let statuses = self.counters.statuses.map { ("\($0.key)", JSONValue.integer(Int64($0.value))) }
        return .object([
            "pid": .integer(Int64(ProcessInfo.processInfo.processIdentifier)),
            "uptime": .string(Self.text(self.uptime)), "uptime_sec": .number(Self.seconds(self.uptime)),
            "count": .integer(0), "total_count": .integer(Int64(total)),
            "total_status_code_count": .object(Dictionary(statuses) { $1 }),
            "total_response_time": .string(Self.text(self.counters.responseTime)),
            "total_response_time_sec": .number(Self.seconds(self.counters.responseTime)),
            "average_response_time": .string(Self.text(average)),
            "average_response_time_sec": .number(Self.seconds(average)),
        ])
    }

    /// The body of `/metrics`. The names of error metrics differ between platforms, as they do in gorush.
    var metrics: String {
        let values: [(String, String, Int)] = [
            ("total_push_count", "counter", self.counters.submitted),
            ("ios_success", "counter", self.counters.succeeded), ("ios_error", "counter", self.counters.failed),
            ("android_success", "counter", 0), ("android_fail", "counter", 0), ("huawei_success", "counter", 0),
            ("huawei_fail", "counter", 0), ("busy_workers", "gauge", 0),
            ("success_tasks", "counter", self.counters.succeeded), ("failure_tasks", "counter", self.counters.failed),
            ("submitted_tasks", "counter", self.counters.submitted),
        ]
        return values.map { name, type, value in "# TYPE gorush_\(name) \(type)\ngorush_\(name) \(value)\n" }.joined()
    }

    private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

    /// Returns a duration in Go's notation, such as `1.2ms` or `3.5s`.
    private static func text(_ duration: Duration) -> String {
        let seconds = self.seconds(duration)
        let (value, unit) =
            seconds >= 1 ? (seconds, "s") : seconds >= 0.001 ? (seconds * 1e3, "ms") : (seconds * 1e6, "µs")
        return "\((value * 10).rounded() / 10)\(unit)"
    }
}
