public import Foundation

/// A transport of requests to the provider.
public protocol MartletTransport: Sendable {
    /// Sends a request and returns its response, whatever its status.
    /// - Throws: An error of the network, and one if the response exceeds a limit of the request.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request to the provider.
public struct TransportRequest: Hashable, Sendable {
    public var method: String
    public var url: URL
    /// The header fields, with names in lower case.
    public var headers: [String: String]
    public var body: Data
    /// The longest time for the whole exchange.
    public var deadline: Duration
    /// The maximum size of a response in bytes.
    public var maximumResponse: Int

    public init(
        method: String,
        url: URL,
        headers: [String: String] = [:],
        body: Data = Data(),
        deadline: Duration = .seconds(30),
        maximumResponse: Int = 256 * 1024
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.deadline, self.maximumResponse) = (deadline, maximumResponse)
    }
}

/// A response of the provider.
public struct TransportResponse: Hashable, Sendable {
    public var status: Int
    /// The header fields, with names in lower case.
    public var headers: [String: String]
    public var body: Data

    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

/// An error of a transport.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There was no whole response in time.
    case deadlineExceeded
    /// The response is longer than the request allows.
    case responseTooLarge
    /// The response is not HTTP.
    case noHTTPResponse

    public var description: String {
        switch self {
        case .deadlineExceeded: "there was no whole response in time: check the network and the provider"
        case .responseTooLarge: "the response is too large: check that the URL is the provider's"
        case .noHTTPResponse: "the response is not HTTP: check that the URL is the provider's"
        }
    }
}

/// A transport that also carries downloads, whose bodies are too large for memory.
public protocol DownloadTransport: MartletTransport {
    /// Sends a request, and hands on the parts of its response as they arrive, in order and one at a time.
    ///
    /// Nothing more is read while a part is processed. ``TransportRequest/deadline`` is the longest time without a byte, and
    /// ``TransportRequest/maximumResponse`` does not apply.
    /// - Parameter part: Takes a part. Its error ends the exchange.
    /// - Throws: The error of `part`, and errors of the network.
    func receive(_ request: TransportRequest, _ part: @escaping @Sendable (ResponsePart) throws -> Void) async throws
}

/// A part of a response.
public enum ResponsePart: Hashable, Sendable {
    /// Status and header fields; the body is empty.
    case head(TransportResponse)
    case body(Data)
}

extension Duration {
    /// Returns the result of `body`, which is cancelled after this time.
    /// - Throws: ``TransportError/deadlineExceeded``, and the errors of `body`.
    package func limiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: self)
                throw TransportError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
