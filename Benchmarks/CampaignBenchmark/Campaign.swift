import ArgumentParser
import Benchmarking
import Foundation

/// Sends a notification to all devices through a provider's API and waits for its end, optionally under other traffic.
struct Campaign: AsyncParsableCommand {
    @OptionGroup var provider: ProviderOptions
    @Option(help: "How the figures begin.") var name = "campaign"
    @Option(help: "File with the JSON of the request.") var request: String
    @Option(help: "Devices that are to get it.") var count: Int
    @Option(help: "Campaigns follow each other for at least so many seconds.") var seconds = 0.0
    @Option(help: "Single notifications a second through the API meanwhile.") var singles = 0.0
    @Option(help: "Registrations a minute through the API meanwhile.") var registrations = 0.0
    @Option(help: "Seconds after which it is given up.") var limit = 900.0

    func run() async throws {
        let api = self.provider.api
        let body = try Data(contentsOf: URL(filePath: self.request))
        let singles = SingleSends(api: api, rate: self.singles)
        let registrations = Registrations(api: api, rate: self.registrations / 60)
        let cpu = try ProcessStatistics(pid: self.provider.pid).cpuSeconds
        let traffic = Task {
            async let latencies = singles.run()
            async let responses = registrations.run()
            return (try await latencies, try await responses)
        }
        let runner = CampaignRun(api: api, count: self.count, limit: self.limit)
        var rates: [Double] = []
        let start = ContinuousClock.now
        repeat {
            rates.append(try await runner.run(body) { _ in })
        } while (ContinuousClock.now - start) / .seconds(1)
            < self.seconds
        traffic.cancel()
        let (sent, responses) = try await traffic.value
        let figures = try ProcessStatistics(pid: self.provider.pid)
        let pushes = Double(self.count * rates.count + sent.arrivals.count)
        figure("\(self.name)_rate", rates.sorted()[rates.count / 2], "pushes/s")
        figure("\(self.name)_cpu", (figures.cpuSeconds - cpu) * 1e6 / pushes, "us/push of the provider")
        figure("\(self.name)_peak_memory", figures.peakKB / 1024, "MB")
        sent.print(self.name)
        responses.print(self.name)
        try await ProviderAPI.close()
    }
}

/// A notification to all devices, from its acceptance to its end.
struct CampaignRun: Sendable {
    /// The pause between two requests for the notification's state.
    private static let pause: Duration = .milliseconds(50)

    let api: ProviderAPI
    let count: Int
    /// Seconds after which it is given up.
    let limit: Double

    /// Returns the pushes per second.
    /// - Parameter began: Receives the id of the accepted notification.
    func run(_ body: Data, began: @Sendable (String) async -> Void) async throws -> Double {
        let accepted = try await self.api.post("/v1/apps/\(BenchmarkApp.bundleID)/notifications", body)
        guard let id = accepted.string("id"), let created = accepted.integer("createdAtMs") else {
            throw BenchmarkFailure("the provider's answer has no id")
        }
        await began(id)
        let start = ContinuousClock.now
        while true {
            let response = try await self.api.get("/v1/notifications/\(id)")
            if let finished = response.integer("finishedAtMs") {
                return Double(self.count) * 1000 / Double(max(1, finished - created))
            }
            guard (ContinuousClock.now - start) / .seconds(1) < self.limit else {
                throw BenchmarkFailure("not done after \(self.limit) s: \(response)")
            }
            try await Task.sleep(for: Self.pause)
        }
    }
}

/// The provider that is measured.
struct ProviderOptions: ParsableArguments {
    @Option(help: "Port of the API on localhost.") var port: Int
    @Option(help: "An admin API key.") var apiKey: String
    @Option(help: "Process id of the provider.") var pid: Int

    var api: ProviderAPI { ProviderAPI(base: "http://127.0.0.1:\(self.port)", key: self.apiKey) }
}
