import AsyncHTTPClient
import Benchmarking
import NIOCore
import NIOHTTP1

/// The metrics of the provider and of the gateway that it pushes to.
struct MetricsPages: Sendable {
    let port: Int
    let apiKey: String
    let adminPort: Int
    private let client = HTTPClient(eventLoopGroupProvider: .singleton)

    init(port: Int, apiKey: String, adminPort: Int) {
        (self.port, self.apiKey, self.adminPort) = (port, apiKey, adminPort)
    }

    /// Returns the recipients that the push service has accepted since the start of the provider, by its ledger.
    func accepted() async throws -> Double {
        try await self.page(self.port, key: self.apiKey).sum(of: "martlet_deliveries_total", with: "state=\"accepted\"")
    }

    /// Returns the pushes that the gateway has received.
    func received() async throws -> Double {
        try await self.page(self.adminPort).sum(of: "martlet_gateway_events_total", with: "event=\"received\"")
    }

    func close() async throws { try await self.client.shutdown() }

    private func page(_ port: Int, key: String? = nil) async throws -> MetricsText {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics")
        if let key { request.headers.add(name: "authorization", value: "Bearer \(key)") }
        let response = try await self.client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 4 << 20)
        guard response.status.code == 200 else { throw BenchmarkFailure("/metrics: \(response.status)") }
        return MetricsText(String(buffer: body))
    }
}
