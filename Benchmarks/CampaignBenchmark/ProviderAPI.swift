import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import PushSupport

/// The provider's API, as its callers see it.
struct ProviderAPI: Sendable {
    let base: String
    let key: String

    /// As many connections as calls are under way, so that no call waits for another before it is sent.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// For the end of the process.
    static func close() async throws {
        try await Self.client.shutdown()
    }

    /// - Throws: ``BenchmarkFailure`` for an answer other than 2xx.
    func post(_ path: String, _ body: Data) async throws -> [String: JSONValue] {
        var request = HTTPClientRequest(url: self.base + path)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await self.execute(request)
    }

    func get(_ path: String) async throws -> [String: JSONValue] {
        try await self.execute(HTTPClientRequest(url: self.base + path))
    }

    private func execute(_ request: HTTPClientRequest) async throws -> [String: JSONValue] {
        var request = request
        request.headers.add(name: "authorization", value: "Bearer \(self.key)")
        let answer: HTTPClientResponse
        do {
            answer = try await Self.client.execute(request, timeout: .seconds(60))
        } catch {
            throw BenchmarkFailure("\(request.method) \(request.url): \(error)")
        }
        let body = try await answer.body.collect(upTo: 1 << 20)
        guard (200..<300).contains(answer.status.code) else {
            let text = String(buffer: body)
            throw BenchmarkFailure("\(request.method) \(request.url): \(answer.status.code) \(text.prefix(300))")
        }
        guard case .object(let members)? = try? JSONValue(parsing: Data(buffer: body)) else {
            throw BenchmarkFailure("\(request.url): no JSON object")
        }
        return members
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
