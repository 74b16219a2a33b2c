import ArgumentParser
import AsyncHTTPClient
import Benchmarking
import Foundation
import NIOCore
import NIOHTTP1

/// Measures the latency for other callers, first without and then with a hostile caller that has a read-only key.
struct Hostile: AsyncParsableCommand {
    @OptionGroup var provider: ProviderOptions
    @Option(help: "Seconds for each of the two measurements.") var seconds = 20.0
    @Option(help: "Single notifications a second, and as many looks at the list of apps.") var rate = 20.0

    func run() async throws {
        let api = self.provider.api
        let body = Data(#"{"name":"hostile","scopes":["read"]}"#.utf8)
        guard let key = try await api.post("/v1/keys", body).string("key") else {
            throw BenchmarkFailure("the provider's answer has no key")
        }
        let quiet = try await self.measure(api)
        let attack = Attack(base: api.base, key: key)
        let attackers = Task { await attack.run() }
        // The first hostile queries are running when the measurement starts.
        try await Task.sleep(for: .seconds(1))
        let hostile = try await self.measure(api)
        attackers.cancel()
        let responses = await attackers.value
        self.print("quiet", quiet)
        self.print("hostile", hostile)
        figure("hostile_apps_p99_added", hostile.apps - quiet.apps, "ms")
        figure("hostile_urgent_p99_ratio", hostile.urgent / max(quiet.urgent, 0.001), "ratio")
        figure("hostile_requests", Double(responses.values.reduce(0, +)), "requests of the hostile key")
        for (status, count) in responses.sorted(by: { $0.key < $1.key }) {
            figure("hostile_requests_\(status)", Double(count), "answers")
        }
        try await ProviderAPI.close()
    }

    /// The 99th percentiles, in milliseconds.
    private struct Latencies {
        var apps: Double
        var urgent: Double
        var urgentResponse: Double
    }

    private func measure(_ api: ProviderAPI) async throws -> Latencies {
        let (singles, rate) = (SingleSends(api: api, rate: self.rate), self.rate)
        let traffic = Task {
            async let sent = singles.run()
            async let samples = ConstantRateCalls.run(rate: rate) { _ in
                let start = ContinuousClock.now
                _ = try await api.get("/v1/apps")
                return (ContinuousClock.now - start) / .milliseconds(1)
            }
            return (try await sent, try await samples)
        }
        try await Task.sleep(for: .seconds(self.seconds))
        traffic.cancel()
        let (sent, samples) = try await traffic.value
        return Latencies(
            apps: try Self.p99(samples.sorted()),
            urgent: try Self.p99(sent.arrivals),
            urgentResponse: try Self.p99(sent.responses)
        )
    }

    private static func p99(_ sorted: [Double]) throws -> Double {
        guard !sorted.isEmpty else { throw BenchmarkFailure("nothing was measured: use more seconds") }
        return sorted[sorted.count * 99 / 100]
    }

    private func print(_ name: String, _ latencies: Latencies) {
        figure("\(name)_apps_p99", latencies.apps, "ms")
        figure("\(name)_urgent_p99", latencies.urgent, "ms")
        figure("\(name)_urgent_api_p99", latencies.urgentResponse, "ms")
    }
}

/// A caller that repeats the most expensive queries.
private struct Attack: Sendable {
    private enum Request: CaseIterable {
        case count
        case preview
        case export
        case history
        case deepJSON
        case refused
    }

    let base: String
    let key: String

    /// The number of requests of each kind in flight.
    private static let atOnce = 6

    /// Sends requests until the task is cancelled.
    /// - Returns: the number of responses of each status; 0 means no response.
    func run() async -> [Int: Int] {
        await withTaskGroup(of: [Int: Int].self) { group in
            for request in Request.allCases {
                for number in 0..<Self.atOnce { group.addTask { await self.repeatedly(request, number) } }
            }
            return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
    }

    private func repeatedly(_ request: Request, _ number: Int) async -> [Int: Int] {
        var responses: [Int: Int] = [:]
        while !Task.isCancelled {
            let status = (try? await self.send(request, number)) ?? 0
            responses[status, default: 0] += 1
        }
        return responses
    }

    private func send(_ request: Request, _ number: Int) async throws -> Int {
        let app = "\(self.base)/v1/apps/\(BenchmarkApp.bundleID)"
        var message: HTTPClientRequest
        switch request {
        case .count: message = Self.post("\(app)/audience:count", Self.costly)
        case .preview: message = Self.post("\(app)/audience:preview", Self.costly)
        case .export: message = HTTPClientRequest(url: "\(app)/devices:export")
        case .history: message = HTTPClientRequest(url: "\(app)/users/user\(number)/history?limit=1000")
        case .deepJSON: message = Self.post("\(app)/audience:count", Self.emptyObjects)
        case .refused: message = Self.post("\(app)/credentials/sandbox", "{}", method: .PUT)
        }
        message.headers.add(name: "authorization", value: "Bearer \(self.key)")
        let response = try await HTTPClient.shared.execute(message, timeout: .seconds(60))
        for try await _ in response.body where Task.isCancelled { break }
        return Int(response.status.code)
    }

    private static func post(_ url: String, _ body: String, method: HTTPMethod = .POST) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.body = .bytes(ByteBuffer(string: body))
        return request
    }

    /// An audience that no index covers.
    private static let costly: String = {
        let conditions = (0..<60).map { #"{"not":{"attribute":"points\#($0)","atLeast":3}}"# }
        return #"{"audience":{"and":[\#(conditions.joined(separator: ","))]}}"#
    }()

    private static let emptyObjects: String = {
        let count = 340_000
        return #"{"audience":[\#(String(repeating: "{},", count: count))1]}"#
    }()
}
