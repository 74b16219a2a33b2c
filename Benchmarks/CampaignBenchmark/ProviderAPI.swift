import AsyncHTTPClient
import Benchmarking
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import PushSupport

/// A client of the provider's API.
struct ProviderAPI: Sendable {
    let base: String
    let key: String

    /// The HTTP client. It opens as many connections as there are calls in flight, so that no call waits for another.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Closes the connections at the end of the process.
    static func close() async throws {
        try await Self.client.shutdown()
    }

    /// Posts JSON, or throws ``BenchmarkFailure`` for a status other than 2xx.
    func post(
        _ path: String,
        _ body: Data,
        headers: [(String, String)] = []
    ) async throws -> [String: JSONValue] {
        try await self.send(.POST, path, body, headers)
    }

    func put(_ path: String, _ body: Data) async throws -> [String: JSONValue] {
        try await self.send(.PUT, path, body, [])
    }

    func patch(_ path: String, _ body: Data) async throws -> [String: JSONValue] {
        try await self.send(.PATCH, path, body, [])
    }

    private func send(
        _ method: HTTPMethod,
        _ path: String,
        _ body: Data,
        _ headers: [(String, String)]
    ) async throws -> [String: JSONValue] {
        var request = HTTPClientRequest(url: self.base + path)
        request.method = method
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(contentsOf: headers)
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await self.execute(request)
    }

    func get(_ path: String) async throws -> [String: JSONValue] {
        try await self.execute(HTTPClientRequest(url: self.base + path))
    }

    /// Returns the provider's metrics.
    func metrics() async throws -> MetricsText {
        MetricsText(String(buffer: try await self.body(HTTPClientRequest(url: self.base + "/metrics"))))
    }

    private func execute(_ request: HTTPClientRequest) async throws -> [String: JSONValue] {
        let body = try await self.body(request)
        guard case .object(let members)? = try? JSONValue(parsing: Data(buffer: body)) else {
            throw BenchmarkFailure("\(request.url): no JSON object")
        }
        return members
    }

    /// Returns the body of a response of status 2xx.
    private func body(_ request: HTTPClientRequest) async throws -> ByteBuffer {
        var request = request
        request.headers.add(name: "authorization", value: "Bearer \(self.key)")
        let response: HTTPClientResponse
        do {
            response = try await Self.client.execute(request, timeout: .seconds(60))
        } catch {
            throw BenchmarkFailure("\(request.method) \(request.url): \(error)")
        }
        let body = try await response.body.collect(upTo: 1 << 20)
        guard (200..<300).contains(response.status.code) else {
            let text = String(buffer: body)
            throw BenchmarkFailure("\(request.method) \(request.url): \(response.status.code) \(text.prefix(300))")
        }
        return body
    }
}

extension [String: JSONValue] {
    func string(_ name: String) -> String? {
        if case .string(let text)? = self[name] { text } else { nil }
    }

    func integer(_ name: String) -> Int64? {
        if case .integer(let number)? = self[name] { number } else { nil }
    }
}
