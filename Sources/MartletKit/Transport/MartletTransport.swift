public import Foundation

/// A transport that sends requests to the provider.
public protocol MartletTransport: Sendable {
    /// Sends a request and returns its response, regardless of its status.
    /// - Throws: An error of the network, or an error if the response exceeds a limit of the request.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request to the provider.
public struct TransportRequest: Hashable, Sendable {
    public var method: String
    public var url: URL
    /// The header fields, with names in lower case.
    public var headers: [String: String]
    public var body: Data
    /// The maximum duration of the exchange, from the request to the end of the response.
    public var deadline: Duration
    /// The maximum size of a response's body in bytes. A longer one fails the request.
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
    /// The error for a response that was not complete before the deadline.
    case deadlineExceeded
    /// The error for a response that is longer than ``TransportRequest/maximumResponse``.
    case responseTooLarge
    /// The error for a response that is not HTTP.
    case noHTTPResponse

    public var description: String {
        switch self {
        case .deadlineExceeded: "there was no whole response in time: check the network and the provider"
        case .responseTooLarge: "the response is too large: check that the URL is the provider's"
        case .noHTTPResponse: "the response is not HTTP: check that the URL is the provider's"
        }
    }
}

/// A transport that also supports downloads, whose bodies are too large for memory.
public protocol DownloadTransport: MartletTransport {
    /// Sends a request, and passes the parts of its response to `part` one at a time, in the order of arrival.
    ///
    /// Nothing more is read while a part is processed. ``TransportRequest/deadline`` is the maximum time in which no
    /// byte arrives, and ``TransportRequest/maximumResponse`` does not apply.
    /// - Parameter part: A closure that processes a part. An error that it throws terminates the exchange.
    /// - Throws: The error of `part`, or an error of the network.
    func receive(_ request: TransportRequest, _ part: @escaping @Sendable (ResponsePart) throws -> Void) async throws
}

/// A part of a response, in the order of arrival: the head, then pieces of the body.
public enum ResponsePart: Hashable, Sendable {
    /// The status and the header fields. The response's body is empty.
    case head(TransportResponse)
    case body(Data)
}

extension Duration {
    /// Runs `body` and returns its result. If it takes longer than this duration, `body` is cancelled.
    /// - Throws: ``TransportError/deadlineExceeded``, or the error of `body`.
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
