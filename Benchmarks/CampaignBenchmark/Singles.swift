import ArgumentParser
import Benchmarking
import Foundation
import PushTypes

/// Sends single notifications through a provider's API, as fast as some callers can, and waits for the end of all.
struct Singles: AsyncParsableCommand {
    private static let pause: Duration = .milliseconds(100)

    @OptionGroup var provider: ProviderOptions
    @Option(help: "Single notifications.") var count: Int
    @Option(help: "Callers at a time, each with one request.") var callers = 32
    @Option(help: "Tokens, in turn.") var tokens = 1000
    @Option(help: "Seconds after which it is given up.") var limit = 900.0

    func run() async throws {
        let api = self.provider.api
        let before = try await Self.accepted(api)
        let cpu = try ProcessStatistics(pid: self.provider.pid).cpuSeconds
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<self.callers {
                group.addTask {
                    for number in stride(from: caller, to: self.count, by: self.callers) {
                        try await self.send(number, api)
                    }
                }
            }
            try await group.waitForAll()
        }
        while try await Self.accepted(api) < before + Double(self.count) {
            guard (ContinuousClock.now - start) / .seconds(1) < self.limit else {
                throw BenchmarkFailure("not all were accepted after \(self.limit) s")
            }
            try await Task.sleep(for: Self.pause)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let used = try ProcessStatistics(pid: self.provider.pid).cpuSeconds - cpu
        figure("singles_rate", Double(self.count) / seconds, "notifications/s, from the request to the push service")
        figure("singles_cpu", used * 1e6 / Double(self.count), "us/notification of the provider")
        try await ProviderAPI.close()
    }

    private func send(_ number: Int, _ api: ProviderAPI) async throws {
        let token = TokenOptions.madeUp(number % self.tokens).hex
        let body = #"{"to":{"tokens":["\#(token)"]},"environment":"sandbox","alert":"Number \#(number)"}"#
        _ = try await api.post("/v1/apps/\(BenchmarkApp.bundleID)/notifications", Data(body.utf8))
    }

    /// Returns the recipients that the push service has accepted since the start of the provider.
    private static func accepted(_ api: ProviderAPI) async throws -> Double {
        try await api.metrics().sum(of: "martlet_deliveries_total", with: "state=\"accepted\"")
    }
}
