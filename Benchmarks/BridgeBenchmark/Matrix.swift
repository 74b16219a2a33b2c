import ArgumentParser
import Benchmarking
import Foundation
import PushTypes

/// Posts notifications as a Matrix homeserver does, and waits until the push service has accepted a push for each.
///
/// Every notification is about an event of its own: a repeated event would be dropped.
struct Matrix: AsyncParsableCommand {
    private static let pause: Duration = .milliseconds(50)

    @Option(help: "Port of the provider.") var port: Int
    @Option(help: "Process id of the provider.") var pid: Int
    @Option(help: "API key of the provider, for its metrics.") var apiKey: String
    @Option(help: "Port of the gateway's admin API.") var adminPort: Int
    @Option(help: "File with a device token in hexadecimal per line.") var tokens: String
    @Option(help: "The app_id of the bridge.") var appID: String
    @Option(help: "Clients, each with one connection and one request at a time.") var clients: Int
    @Option(help: "Notifications.") var count: Int
    @Option(name: .customLong("run"), help: "A word in the ids of the events, another one for each run.") var word =
        "run"
    @Option(help: "How the figures begin.") var name = "matrix"
    @Option(help: "Seconds after which it is given up.") var limit = 300.0

    func run() async throws {
        let pushkeys = try String(contentsOfFile: self.tokens, encoding: .utf8).split(separator: "\n").map { line in
            guard let token = DeviceToken(hex: line) else { throw BenchmarkFailure("\(self.tokens) has no tokens") }
            return Data(token.bytes).base64EncodedString()
        }
        guard !pushkeys.isEmpty else { throw BenchmarkFailure("\(self.tokens) is empty") }
        let pages = MetricsPages(port: self.port, apiKey: self.apiKey, adminPort: self.adminPort)
        let (accepted, received) = (try await pages.accepted(), try await pages.received())
        let requests = MatrixRequests(appID: self.appID, pushkeys: pushkeys, run: self.word)
        let load = HomeserverLoad(port: self.port, clients: self.clients, count: self.count, requests: requests)

        let cpu = try ProcessStatistics(pid: self.pid).cpuSeconds
        let start = ContinuousClock.now
        let latencies = try await load.run(limit: self.limit).sorted()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        while try await pages.accepted() < accepted + Double(self.count) {
            guard (ContinuousClock.now - start) / .seconds(1) < self.limit else {
                throw BenchmarkFailure("not all were accepted after \(self.limit) s")
            }
            try await Task.sleep(for: Self.pause)
        }
        let used = try ProcessStatistics(pid: self.pid).cpuSeconds - cpu
        let arrived = try await pages.received() - received
        guard arrived == Double(self.count), latencies.count == self.count else {
            throw BenchmarkFailure(
                "\(arrived) of \(self.count) pushes are at the gateway, \(latencies.count) were answered"
            )
        }
        figure("\(self.name)_rate", Double(self.count) / seconds, "notifications/s")
        figure("\(self.name)_cpu", used * 1e6 / Double(self.count), "us/notification of the provider")
        figure("\(self.name)_latency_p50", Double(latencies[latencies.count / 2]) / 1000, "us")
        figure("\(self.name)_latency_p99", Double(latencies[latencies.count * 99 / 100]) / 1000, "us")
        try await pages.close()
    }
}
