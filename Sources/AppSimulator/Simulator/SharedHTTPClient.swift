import AsyncHTTPClient
import NIOCore
import PushSupport
package import PushTypes

/// The HTTP client of many apps in one process, whose connections are bounded.
package final class SharedHTTPClient: Sendable {
    /// The longest time without a byte of a body.
    private static let silence: TimeAmount = .seconds(60)

    private let client: HTTPClient
    private let exchanges: CountingSemaphore

    /// - Parameters:
    ///   - connections: The most exchanges at a time. Others wait for their turn, and their deadlines begin with it.
    ///   - proxy: The HTTP proxy that tunnels to the provider; `nil` for none.
    package init(connections: Int, proxy: ProxyEndpoint? = nil) {
        var configuration = HTTPClientTransport.configuration(proxy: proxy)
        configuration.timeout.read = Self.silence
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.exchanges = CountingSemaphore(count: connections)
    }

    /// Closes the connections. Nothing may be sent afterwards.
    package func close() async throws { try await self.client.shutdown() }

    func run<Value: Sendable>(_ body: @escaping @Sendable (HTTPClient) async throws -> Value) async throws -> Value {
        try await self.exchanges.run {
            try Task.checkCancellation()
            return try await body(self.client)
        }
    }
}
